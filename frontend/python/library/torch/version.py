cuda = None
hip = None
git_version = ""

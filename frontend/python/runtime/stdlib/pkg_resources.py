# Of setuptools: what is installed and the files beside it, as libraries ask for it that know
# nothing newer.
import importlib
import importlib.metadata as _metadata
import os

import _cobra
import packaging
import packaging.requirements
import packaging.specifiers
import packaging.version

parse_version = packaging.version.parse


class ResolutionError(Exception):
    pass


class DistributionNotFound(ResolutionError):
    pass


class VersionConflict(ResolutionError):
    pass


class Distribution:
    def __init__(self, project_name, version):
        self.project_name, self.key, self.version = project_name, project_name.lower(), version

    parsed_version = property(lambda self: parse_version(self.version))

    def __str__(self):
        return "%s %s" % (self.project_name, self.version)


def get_distribution(dist):
    requirement = packaging.requirements.Requirement(str(dist))
    try:
        found = Distribution(requirement.name, _metadata.version(requirement.name))
    except _metadata.PackageNotFoundError:
        raise DistributionNotFound("The %r distribution was not found and is required by the application" % dist)
    if not requirement.specifier.contains(found.version, prereleases=True):
        raise VersionConflict(found, requirement)
    return found


def require(*requirements):
    return [get_distribution(one) for part in requirements for one in ([part] if isinstance(part, str) else part)]


def declare_namespace(packageName):
    pass


def resource_filename(package_or_requirement, resource_name):
    module = importlib.import_module(package_or_requirement)
    return os.path.join(os.path.dirname(module.__file__), *resource_name.split("/"))


def resource_exists(package_or_requirement, resource_name):
    return os.path.exists(resource_filename(package_or_requirement, resource_name))


def resource_isdir(package_or_requirement, resource_name):
    return os.path.isdir(resource_filename(package_or_requirement, resource_name))


def resource_listdir(package_or_requirement, resource_name):
    return os.listdir(resource_filename(package_or_requirement, resource_name))


def resource_stream(package_or_requirement, resource_name):
    return open(resource_filename(package_or_requirement, resource_name), "rb")


def resource_string(package_or_requirement, resource_name):
    with resource_stream(package_or_requirement, resource_name) as stream:
        return stream.read()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError("module 'pkg_resources' has no attribute %r" % name)
    _cobra.unsupported("pkg_resources." + name)

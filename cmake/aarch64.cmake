# Compiles for aarch64 on another machine (preset aarch64): Debian's cross compiler, the arm64 packages
# in build/portable/sysroot-arm64, and build/portable/dependencies-arm64, both of which
# scripts/portable-dependencies.sh arm64 makes. protoc, its gRPC plugin and flatc are this machine's.
get_filename_component(COBRA_PORTABLE ${CMAKE_CURRENT_LIST_DIR}/../build/portable ABSOLUTE)
set(COBRA_TRIPLET aarch64-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER ${COBRA_TRIPLET}-gcc)
set(CMAKE_CXX_COMPILER ${COBRA_TRIPLET}-g++)
set(CMAKE_SYSROOT ${COBRA_PORTABLE}/sysroot-arm64)
# The sysroot's C library, not the older one that comes with the compiler. glibc's static objects
# reach 4,096 entries of the GOT; position-independent code of ours alone would take 2,700 of them.
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_C_FLAGS_INIT "-B${CMAKE_SYSROOT}/usr/lib/${COBRA_TRIPLET}/ -fno-pie -no-pie")
set(CMAKE_CXX_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})

set(CMAKE_PREFIX_PATH ${COBRA_PORTABLE}/dependencies-arm64)
set(CMAKE_FIND_ROOT_PATH ${COBRA_PORTABLE}/dependencies-arm64)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/${COBRA_TRIPLET}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
# Tests run in an emulator (scripts/test-long.sh aarch64).
find_program(COBRA_QEMU qemu-aarch64-static)
if(COBRA_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${COBRA_QEMU} -L ${CMAKE_SYSROOT})
endif()

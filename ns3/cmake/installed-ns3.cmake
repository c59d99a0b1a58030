# Finds an installed ns-3 and makes its targets usable on this machine. SPDX-License-Identifier: GPL-2.0-only
#
# Sets sojourn_ns3_target, the text before a module's name in a target; and ns3_libraries, the folder
# of its libraries. Included by the build of the module, and by `find_package(sojourn)`.

set(sojourn_ns3_missing "")
find_package(ns3 CONFIG QUIET PATH_SUFFIXES lib64/cmake/ns3 ns3/lib64/cmake/ns3)
if(NOT ns3_FOUND)
  set(sojourn_ns3_missing
      "ns-3 was not found. Install it (Debian: libns3-dev; or unpack the wheel `ns3` of PyPI) and say \
where: -DCMAKE_PREFIX_PATH=<folder with lib64/cmake/ns3>")
  return()
endif()
# Its targets are ns3::core and so on, those of 3.37 ns3::libcore.
set(sojourn_ns3_target "ns3::")
if(TARGET ns3::libcore)
  set(sojourn_ns3_target "ns3::lib")
endif()
# An installed ns-3 names folders and libraries of the machine on which it was built; some of the
# folders hide those of the compiler here, others do not exist.
find_path(ns3_headers ns3/core-module.h NO_DEFAULT_PATH
          HINTS "${ns3_DIR}/../../../include" "${ns3_DIR}/../../../../include")
if(NOT ns3_headers)
  set(sojourn_ns3_missing "There is no ns3/core-module.h near ${ns3_DIR}; install ns-3's headers")
  return()
endif()
get_property(sojourn_imported DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target ${sojourn_imported})
  if(target MATCHES "^ns3::")
    get_target_property(linked ${target} INTERFACE_LINK_LIBRARIES)
    set(present)
    foreach(one ${linked})
      if(NOT IS_ABSOLUTE "${one}" OR EXISTS "${one}")
        list(APPEND present "${one}")
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${ns3_headers}"
      INTERFACE_LINK_LIBRARIES "${present}")
  endif()
endforeach()
# Libraries that the build of ns-3 used are those that came with it.
get_filename_component(ns3_libraries "${ns3_DIR}/../.." REALPATH)

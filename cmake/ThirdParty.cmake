# Everything that third_party.lock names, as one target. tools/setup has fetched it, and knows where it lies.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
foreach(library sqlite3 libcurl libarchive libxml-2.0 md4c gumbo libutf8proc icu-uc yaml-0.1 serd-0 libcrypto)
    string(REGEX REPLACE "[^a-z0-9]" "_" name ${library})
    pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${library})
    list(APPEND packaged PkgConfig::${name})
    list(APPEND libraries ${${name}_LIBRARIES})
endforeach()
list(JOIN libraries " -l" QUIPU_LIBRARIES) # what a program links beside libquipu.a
find_library(STEMMER stemmer REQUIRED) # these three have no .pc file
find_library(CSV csv REQUIRED)
find_path(HNSWLIB hnswlib/hnswlib.h REQUIRED)

function(third_party_folder name out)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env QUIPU_NATIVE=${QUIPU_NATIVE} ${CMAKE_SOURCE_DIR}/tools/setup where ${name}
                    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    if(NOT EXISTS ${folder})
        message(FATAL_ERROR "${name} is not in the cache: run tools/setup first (make does)")
    endif()
    set(${out} ${folder} PARENT_SCOPE)
endfunction()
third_party_folder(llama.cpp llama)
third_party_folder(yyjson yyjson)

# yyjson is one file, compiled into the library without our warnings.
set(QUIPU_VENDORED ${yyjson}/yyjson.c)
set_source_files_properties(${QUIPU_VENDORED} PROPERTIES COMPILE_OPTIONS -w)

add_library(third_party INTERFACE)
target_include_directories(third_party SYSTEM INTERFACE ${llama}/include ${yyjson} ${HNSWLIB})
foreach(archive llama ggml ggml-cpu ggml-base)
    list(APPEND QUIPU_ARCHIVES ${llama}/lib/lib${archive}.a)
endforeach()
target_link_libraries(third_party INTERFACE ${QUIPU_ARCHIVES} ${packaged} ${STEMMER} ${CSV} Threads::Threads stdc++ m dl)

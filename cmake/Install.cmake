# What `make install` lays down: all that the program and programs on the library need, so that the build tree may go.
install(TARGETS quipu RUNTIME)
install(FILES include/quipu.h include/quipu_op.h TYPE INCLUDE)
install(FILES LICENSE CHANGELOG.md TYPE DOC)
install(DIRECTORY pipelines prompts models DESTINATION ${CMAKE_INSTALL_DATADIR}/quipu PATTERN train EXCLUDE)
if(TARGET quipu_shared)
    install(TARGETS quipu_shared LIBRARY)
endif()

# llama.cpp is nowhere on the user's machine, so libquipu.a takes its archives in.
set(merge "create libquipu.a\naddlib $<TARGET_FILE:quipu_static>\n")
foreach(archive ${QUIPU_ARCHIVES})
    string(APPEND merge "addlib ${archive}\n")
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/whole/merge CONTENT "${merge}save\nend\n")
install(CODE "execute_process(COMMAND ${CMAKE_AR} -M INPUT_FILE merge WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/whole
                              COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${CMAKE_BINARY_DIR}/whole/libquipu.a TYPE LIB)

configure_file(cmake/quipu.pc.in quipu.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/quipu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The man page is written by the program, from the tables that it parses its own arguments with.
install(CODE "execute_process(COMMAND $<TARGET_FILE:quipu> help man OUTPUT_FILE ${CMAKE_BINARY_DIR}/quipu.1
                              COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${CMAKE_BINARY_DIR}/quipu.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

"""Builds an application for the machine that the compilers named by `custom_compilers` build for."""

from SCons.Script import Default, DefaultEnvironment

environment = DefaultEnvironment()
tools = environment.GetProjectOption("custom_compilers", "")
environment.Replace(CC=f"{tools}gcc", AR=f"{tools}ar", RANLIB=f"{tools}ranlib", PROGNAME="app")
environment.Append(LINKFLAGS=environment.GetProjectOption("custom_link_flags", "").split())
Default([environment.BuildProgram()])

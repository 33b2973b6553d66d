// NVRTC for machines without CUDA: g++ makes a shared library of a kernel text, with device.h in front, or an object file
// when the text is to be linked with others (driver.cpp does that). Such a text has its names for all of them.
//
// The text is changed where C++ cannot say what it says: dynamic shared memory becomes a pointer, and of inline PTX
// `trap` and the global timer become calls. What `__global__` functions take is left to templates of device.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "module.h"

#define API extern "C" __attribute__((visibility("default"))) int

namespace {

enum { SUCCESS = 0, INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6, INTERNAL = 11 };

struct Program {
  std::string source, name, log, image;
  bool relocatable = false;
};

std::string readAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

std::string translated(const std::string& source) {
  using std::regex;
  std::string text = std::regex_replace(
      source, regex(R"(extern\s+__shared__\s+([^;\[]*?)(\w+)\s*\[\s*\])"), "$1* const $2 = emulator::Dynamic()");
  text = std::regex_replace(text, regex(R"(asm\s*(volatile)?\s*\(\s*"trap;?"\s*\))"), "__trap()");
  const regex timer(R"(asm\s*(volatile)?\s*\(\s*"mov\.u64 %0, %%?globaltimer;"\s*:\s*"=l"\s*\((\w+)\)\s*\))");
  text = std::regex_replace(text, timer, "$2 = clock64()");
  const regex root(R"re(asm\("rsqrt\.approx\.ftz\.f64 %0, %1;" : "=d"\((\w+)\) : "d"\((\w+)\)\))re");
  return std::regex_replace(text, root, "$1 = __rsqrt_approx($2)");
}

/** The list of kernels at the end of a text, as the driver looks for it. */
std::string kernels(const std::string& source) {
  static const std::regex kernel(
      R"(__global__\s+(?:void\s+)?(?:__launch_bounds__\s*\(([^),]*)[^)]*\)\s*)?(?:void\s+)?(\w+)\s*\()");
  std::string calls, list;
  for (std::sregex_iterator it(source.begin(), source.end(), kernel), end; it != end; ++it) {
    const std::string bound = (*it)[1].length() ? (*it)[1].str() : "0", name = (*it)[2];
    calls += "void run_" + name + "(void** params) { callWith(&::" + name + ", params); }\n";
    list += "  {\"" + name + "\", run_" + name + ", sizesOf(&::" + name + "), " + bound + "},\n";
  }
  if (list.empty()) return "";
  return "namespace emulator {\nnamespace {\n" + calls + "const Kernel kernels[] = {\n" + list + R"(  {}};
}
extern "C" __attribute__((visibility("default"))) Module emulatorModule;
Module emulatorModule = {&threadIdx.x, &blockIdx.x, &blockDim.x, &gridDim.x, &dynamicShared,
  __start_emulator_shared, __stop_emulator_shared, &services, kernels};
}
)";
}

int compile(Program& p) {
  char folder[] = "/tmp/quadrille-nvrtc-XXXXXX";
  if (!mkdtemp(folder)) return INTERNAL;
  const std::string base = folder, in = base + "/kernel.cpp", out = base + "/kernel.so";
  std::ofstream(in) << "#include \"device.h\"\n" << (p.relocatable ? "" : "namespace {") << "\n#line 1 \"" << p.name
                    << "\"\n" << translated(p.source) << "\n" << (p.relocatable ? "" : "}")
                    << "\n#line 1 \"kernels\"\n" << kernels(p.source);
  const std::string command = std::string("g++ ") + (p.relocatable ? "-c" : "-shared") +
      " -std=c++17 -O1 -w -fPIC -fvisibility=hidden -fno-gnu-unique -fno-exceptions -fno-rtti "
      "-fno-math-errno -fno-strict-aliasing -fno-delete-null-pointer-checks -ffp-contract=off -Wl,-Bsymbolic "
      "-I'" EMULATOR_FOLDER "' -o " + out + " " + in + " 2>&1";
  FILE* run = popen(command.c_str(), "r");
  if (!run) return INTERNAL;
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, run)) > 0;) p.log.append(part, n);
  const int status = pclose(run);
  const std::string library = status == 0 ? readAll(out) : "";
  const unsigned long long length = library.size();
  p.image = std::string(p.relocatable ? emulator::PART_MAGIC : emulator::MAGIC, sizeof emulator::MAGIC) + std::string((const char*)&length, 8) + library;
  unlink(in.c_str());
  unlink(out.c_str());
  rmdir(folder);
  return length ? SUCCESS : COMPILATION;
}

}  // namespace

API nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return SUCCESS;
}

API nvrtcCreateProgram(Program** program, const char* source, const char* name, int headers, const void*,
                       const void*) {
  if (!source || headers) return INVALID_INPUT;
  *program = new Program{source, name ? name : "default_program", "", ""};
  return SUCCESS;
}

API nvrtcCompileProgram(Program* p, int count, const char** options) {
  if (!p) return INVALID_PROGRAM;
  for (int i = 0; i < count; i++) {
    if (!strcmp(options[i], "--relocatable-device-code=true")) p->relocatable = true;
    if (std::regex_match(options[i], std::regex("--gpu-architecture=(?!(sm|compute)_90a?$).*"))) {
      p->log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
      return INVALID_OPTION;
    }
  }
  return compile(*p);
}

API nvrtcGetCUBINSize(Program* p, size_t* bytes) {
  *bytes = p->image.size();
  return SUCCESS;
}
API nvrtcGetCUBIN(Program* p, char* image) {
  memcpy(image, p->image.data(), p->image.size());
  return SUCCESS;
}
API nvrtcGetProgramLogSize(Program* p, size_t* bytes) {
  *bytes = p->log.size() + 1;
  return SUCCESS;
}
API nvrtcGetProgramLog(Program* p, char* text) {
  memcpy(text, p->log.c_str(), p->log.size() + 1);
  return SUCCESS;
}
API nvrtcDestroyProgram(Program** p) {
  delete *p;
  *p = nullptr;
  return SUCCESS;
}

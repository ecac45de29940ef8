// A device of torch in host memory: real PrivateUse1 tensors, kernels of the CPU behind them, and a flag instead of Inf in float16.
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cstdlib>

namespace {

constexpr auto PU1 = c10::DeviceType::PrivateUse1;
bool overflow = false;
bool saturating = false;  // as chips of the first training series do
bool dead = false;     // as CUDA is after a kernel's assert: whatever reads or computes fails
bool unknown = false;  // as long as nobody has waited for the kernel
thread_local int computing = 0;

void alive(bool waits) {
  if (!waits && unknown) return;
  unknown = false;
  TORCH_CHECK(!dead, "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported");
}

struct HostMemory final : c10::Allocator {
  static void release(void* p) { std::free(p); }
  c10::DataPtr allocate(size_t bytes) override {
    void* p = bytes ? std::malloc(bytes) : nullptr;
    return {p, p, &release, c10::Device(PU1, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t n) const override { default_copy_data(to, from, n); }
};
HostMemory memory;
REGISTER_ALLOCATOR(PU1, &memory);

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return PU1; }
  c10::Device exchangeDevice(c10::Device) const override { return {PU1, 0}; }
  c10::Device getDevice() const override { return {PU1, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device d) const override { return c10::Stream(c10::Stream::DEFAULT, d); }
  c10::Stream getDefaultStream(c10::Device d) const override { return c10::Stream(c10::Stream::DEFAULT, d); }
  c10::Stream exchangeStream(c10::Stream s) const override { return s; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  bool isAvailable() const override { return true; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetAllocator(c10::DeviceType::CPU); }
  bool isPinnedPtr(const void*) const override { return false; }
  at::Device getDeviceFromPtr(void*) const override { return {PU1, 0}; }
};

at::Tensor empty(c10::IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>, std::optional<c10::MemoryFormat> format) {
  return at::detail::empty_generic(size, &memory, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::dtype_or_default(dtype), format);
}
at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &memory, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::dtype_or_default(dtype));
}
at::Tensor on_cpu(const at::Tensor& t) {  // the same memory, read as a CPU tensor
  return at::from_blob(t.data_ptr(), t.sizes(), t.strides(), at::TensorOptions().dtype(t.scalar_type()));
}
at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool) {
  if (!computing) alive(dst.device().type() != PU1);
  auto to = dst.device().type() == PU1 ? on_cpu(dst) : dst;
  to.copy_(self.device().type() == PU1 ? on_cpu(self) : self);
  if (saturating && dst.device().type() == PU1 && dst.scalar_type() == at::kHalf && at::isinf(to).any().item<bool>()) {
    to.clamp_(-65504, 65504);
    overflow = true;
  }
  return dst;
}
at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  at::native::resize_(dst, self.sizes(), std::nullopt);
  return copy_from(self, dst, false);
}
const at::Tensor& resize(const at::Tensor& self, c10::IntArrayRef size, std::optional<c10::MemoryFormat> format) { return at::native::resize_(self, size, format); }
at::Scalar local_scalar(const at::Tensor& self) {
  alive(true);
  return on_cpu(self).item();
}
at::Tensor& set_source(at::Tensor& result, at::Storage storage, int64_t offset, c10::IntArrayRef size, c10::IntArrayRef stride) {
  result.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(storage));
  at::native::setStrided(result, size, stride, offset);
  return result;
}
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  alive(false);
  struct Kernel {
    Kernel() { ++computing; }
    ~Kernel() { --computing; }
  } kernel;
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("resize_", resize);
  m.impl("_local_scalar_dense", local_scalar);
  m.impl("set_.source_Storage_storage_offset", set_source);
}
}  // namespace

#include <pybind11/pybind11.h>
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("start", [](bool saturate) { saturating = saturate; at::RegisterPrivateUse1HooksInterface(new Hooks()); });
  m.def("overflowed", [] { return overflow; });
  m.def("clear", [] { overflow = false; });
  m.def("wait", [] { alive(true); });
  m.def("die", [](bool at_once) { dead = true, unknown = !at_once; });
}

// What torch sees: schemas, checks, allocation, and the way to the kernels.
// torch/library.h is all that is included of torch; every further header would cost seconds
// of compilation.
#include <torch/library.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels.h"
#include "parallel.h"

namespace {

using at::Tensor;
using kernels::DType;
using kernels::Write;

// Elements per thread below which waking another one costs more than it saves.
constexpr int64_t kGrain = 16 * 1024;
// From this many bytes per call on, results won't be found in a cache later.
constexpr int64_t kStreamingBytes = 1 << 20;

DType dtype_of(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat: return DType::kFloat32;
    case at::kHalf: return DType::kFloat16;
    case at::kBFloat16: return DType::kBFloat16;
    case at::kChar: return DType::kInt8;
    case at::kByte: return DType::kUInt8;
    default: TORCH_CHECK(false, "cann_bench: dtype ", tensor.scalar_type(), " is not supported");
  }
}

DType float_dtype_of(const Tensor& tensor) {
  TORCH_CHECK(tensor.is_floating_point(), "cann_bench: ", tensor.scalar_type(), " is no floating-point dtype");
  return dtype_of(tensor);
}

const char* bytes_of(const Tensor& tensor) { return static_cast<const char*>(tensor.const_data_ptr()); }
char* writable_bytes_of(Tensor& tensor) { return static_cast<char*>(tensor.mutable_data_ptr()); }

Write write_for(int64_t bytes) { return bytes >= kStreamingBytes ? Write::kStreaming : Write::kCached; }

// y = kernel(x), element by element; `run(x, y, count, write)` is called on several threads.
template <class Run>
Tensor elementwise(const Tensor& input, const Run& run) {
  const Tensor x = input.contiguous();
  Tensor y = x.new_empty(x.sizes());
  const int64_t count = x.numel(), item = x.element_size();
  const Write write = write_for(2 * count * item);
  const char* from = bytes_of(x);
  char* to = writable_bytes_of(y);
  kernels::in_parallel(count, kernels::threads_for(count, kGrain), [&](int64_t begin, int64_t end, int) {
    run(from + begin * item, to + begin * item, end - begin, write);
  });
  return y;
}

Tensor exponential(const Tensor& x, double base, double scale, double shift) {
  const DType dtype = float_dtype_of(x);
  const double log2_base = base > 0 ? std::log2(base) : 1.4426950408889634;
  const kernels::Exponent exponent{static_cast<float>(scale * log2_base), static_cast<float>(shift * log2_base)};
  const auto run = kernels::best().exponential;
  return elementwise(x, [=](const char* from, char* to, int64_t count, Write write) {
    run(dtype, from, to, count, exponent, write);
  });
}

Tensor sigmoid(const Tensor& x) {
  const DType dtype = float_dtype_of(x);
  const auto run = kernels::best().sigmoid;
  return elementwise(
      x, [=](const char* from, char* to, int64_t count, Write write) { run(dtype, from, to, count, write); });
}

Tensor mish(const Tensor& x) {
  const DType dtype = float_dtype_of(x);
  const auto run = kernels::best().mish;
  return elementwise(
      x, [=](const char* from, char* to, int64_t count, Write write) { run(dtype, from, to, count, write); });
}

Tensor gelu(const Tensor& x, c10::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "gelu: approximate must be 'none' or 'tanh'");
  const DType dtype = float_dtype_of(x);
  const auto run = approximate == "tanh" ? kernels::best().gelu_tanh : kernels::best().gelu_exact;
  return elementwise(
      x, [=](const char* from, char* to, int64_t count, Write write) { run(dtype, from, to, count, write); });
}

Tensor masked_scale(const Tensor& x, const Tensor& mask, double scale) {
  TORCH_CHECK(mask.sizes() == x.sizes(), "masked_scale: mask has shape ", mask.sizes(), ", x has ", x.sizes());
  const DType dtype = float_dtype_of(x), mask_dtype = dtype_of(mask);
  const Tensor factors = mask.contiguous();
  const char *all = bytes_of(factors), *start = nullptr;
  const Tensor values = x.contiguous();
  start = bytes_of(values);
  const int64_t item = values.element_size(), mask_item = factors.element_size();
  const auto run = kernels::best().masked_scale;
  return elementwise(values, [=](const char* from, char* to, int64_t count, Write write) {
    const char* part = all + (from - start) / item * mask_item;
    run(dtype, mask_dtype, from, part, to, count, scale, write);
  });
}

Tensor addcdiv(const Tensor& x1, const Tensor& x2, const Tensor& x3, double scalar) {
  TORCH_CHECK(x2.sizes() == x1.sizes() && x3.sizes() == x1.sizes(),
              "foreach_addcdiv_scalar: shapes differ: ", x1.sizes(), ", ", x2.sizes(), ", ", x3.sizes());
  TORCH_CHECK(x2.scalar_type() == x1.scalar_type() && x3.scalar_type() == x1.scalar_type(),
              "foreach_addcdiv_scalar: dtypes differ");
  const DType dtype = float_dtype_of(x1);
  const Tensor base = x1.contiguous(), numerator = x2.contiguous(), denominator = x3.contiguous();
  const char *start = bytes_of(base), *above = bytes_of(numerator), *below = bytes_of(denominator);
  const auto run = kernels::best().addcdiv;
  return elementwise(base, [=](const char* from, char* to, int64_t count, Write write) {
    run(dtype, from, above + (from - start), below + (from - start), to, count, scalar, write);
  });
}

std::vector<Tensor> foreach_addcdiv_scalar(at::TensorList x1, at::TensorList x2, at::TensorList x3, double scalar) {
  TORCH_CHECK(x1.size() == x2.size() && x1.size() == x3.size(), "foreach_addcdiv_scalar: lists of ", x1.size(), ", ",
              x2.size(), " and ", x3.size(), " tensors");
  std::vector<Tensor> y;
  y.reserve(x1.size());
  for (size_t i = 0; i < x1.size(); ++i) y.push_back(addcdiv(x1[i], x2[i], x3[i], scalar));
  return y;
}

kernels::Norm norm_for(double order) {
  using kernels::NormKind;
  if (order == 1) return {NormKind::kAbsolute, order};
  if (order == 2) return {NormKind::kSquare, order};
  if (order == 3) return {NormKind::kCube, order};
  if (order == 4) return {NormKind::kFourth, order};
  if (order == 0) return {NormKind::kNonZero, order};
  if (std::isinf(order)) return {order > 0 ? NormKind::kMaximum : NormKind::kMinimum, order};
  return {NormKind::kPower, order};
}

// From the sum (or the extreme) over all elements to the norm.
double finished(kernels::Norm norm, double total) {
  switch (norm.kind) {
    case kernels::NormKind::kSquare: return std::sqrt(total);
    case kernels::NormKind::kCube:
    case kernels::NormKind::kFourth:
    case kernels::NormKind::kPower: return std::pow(total, 1 / norm.order);
    default: return total;
  }
}

double joined(kernels::Norm norm, double a, double b) {
  if (norm.kind != kernels::NormKind::kMaximum && norm.kind != kernels::NormKind::kMinimum) return a + b;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return norm.kind == kernels::NormKind::kMaximum ? std::max(a, b) : std::min(a, b);
}

Tensor norm(const Tensor& input, kernels::Norm norm) {
  const DType dtype = float_dtype_of(input);
  const Tensor x = input.contiguous();
  const int64_t count = x.numel(), item = x.element_size();
  const char* from = bytes_of(x);
  const auto run = kernels::best().norm;
  const int threads = kernels::threads_for(count, kGrain);
  std::vector<double> parts(threads, run(dtype, from, 0, norm));
  kernels::in_parallel(count, threads, [&](int64_t begin, int64_t end, int part) {
    parts[part] = run(dtype, from + begin * item, end - begin, norm);
  });
  double total = parts[0];
  for (int part = 1; part < threads; ++part) total = joined(norm, total, parts[part]);
  Tensor y = x.new_empty({});
  kernels::store_scalar(dtype, writable_bytes_of(y), finished(norm, total));
  return y;
}

std::vector<Tensor> foreach_norm(at::TensorList x, double scalar) {
  std::vector<Tensor> y;
  y.reserve(x.size());
  for (const Tensor& tensor : x) y.push_back(norm(tensor, norm_for(scalar)));
  return y;
}

// The halves along `dim` are, in memory, `rows` pairs of runs of `run` elements.
Tensor swi_glu(const Tensor& tensor, int64_t dim) {
  TORCH_CHECK(dim >= -tensor.dim() && dim < tensor.dim(), "swi_glu: no dimension ", dim, " in ", tensor.sizes());
  const int64_t axis = dim < 0 ? dim + tensor.dim() : dim;
  TORCH_CHECK(tensor.size(axis) % 2 == 0, "swi_glu: dimension ", dim, " of ", tensor.sizes(), " can't be halved");
  const DType dtype = float_dtype_of(tensor);
  const Tensor x = tensor.contiguous();
  std::vector<int64_t> shape = x.sizes().vec();
  shape[axis] /= 2;
  Tensor y = x.new_empty(shape);
  const int64_t count = y.numel(), item = x.element_size();
  if (count == 0) return y;
  int64_t length = 1;
  for (int64_t i = axis; i < x.dim(); ++i) length *= shape[i];
  const Write write = length * item < 4096 ? Write::kCached : write_for(3 * count * item);
  const char* from = bytes_of(x);
  char* to = writable_bytes_of(y);
  const auto run = kernels::best().silu_product;
  kernels::in_parallel(count, kernels::threads_for(count, kGrain), [&](int64_t begin, int64_t end, int) {
    while (begin < end) {
      const int64_t row = begin / length, next = std::min(end, (row + 1) * length);
      const char* gate = from + (begin + row * length) * item;
      run(dtype, gate, gate + length * item, to + begin * item, next - begin, write);
      begin = next;
    }
  });
  return y;
}

}  // namespace

TORCH_LIBRARY(cann_bench, library) {
  library.def("exp(Tensor x, float base=-1.0, float scale=1.0, float shift=0.0) -> Tensor");
  library.def("foreach_addcdiv_scalar(Tensor[] x1, Tensor[] x2, Tensor[] x3, float scalar) -> Tensor[]");
  library.def("foreach_norm(Tensor[] x, float scalar) -> Tensor[]");
  library.def("gelu(Tensor x, str approximate=\"none\") -> Tensor");
  library.def("masked_scale(Tensor x, Tensor mask, float scale=1.0) -> Tensor");
  library.def("mish(Tensor x) -> Tensor");
  library.def("sigmoid(Tensor x) -> Tensor");
  library.def("swi_glu(Tensor input, int dim=-1) -> Tensor");
}

TORCH_LIBRARY_IMPL(cann_bench, CPU, library) {
  library.impl("exp", exponential);
  library.impl("foreach_addcdiv_scalar", foreach_addcdiv_scalar);
  library.impl("foreach_norm", foreach_norm);
  library.impl("gelu", gelu);
  library.impl("masked_scale", masked_scale);
  library.impl("mish", mish);
  library.impl("sigmoid", sigmoid);
  library.impl("swi_glu", swi_glu);
}

// These operators have no derivative; going straight past autograd saves a microsecond per call.
TORCH_LIBRARY_IMPL(cann_bench, Autograd, library) {
  for (const char* name : {"exp", "foreach_addcdiv_scalar", "foreach_norm", "gelu", "masked_scale", "mish", "sigmoid",
                           "swi_glu"}) {
    library.impl(name, torch::CppFunction::makeFallthrough());
  }
}

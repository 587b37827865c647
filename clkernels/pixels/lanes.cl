// WIDTH neighbouring pixels at once: one on GPUs, where neighbouring work-items share a fetch; eight on CPUs, where a
// work-item fills a vector register. Comparisons give INT masks, for select() and the functions here.
//
// -D WIDTH=1|8   is the number of pixels, the lanes of a vector
// -D NATIVE      takes binary logarithms and powers from a GPU's own instructions
// -D FINITE      promises that logarithms and powers are only taken of finite numbers

#define UNROLLED __attribute__((opencl_unroll_hint))

#if WIDTH == 1
typedef float FLOAT;
typedef int INT;
typedef uint UINT;
#define AS_FLOAT as_float
#define AS_INT as_int
#define AS_UINT as_uint
#define TO_FLOAT convert_float
#define TO_INT convert_int
#define TO_UINT convert_uint
#define LANE_INDEX 0
#else
typedef float8 FLOAT;
typedef int8 INT;
typedef uint8 UINT;
#define AS_FLOAT as_float8
#define AS_INT as_int8
#define AS_UINT as_uint8
#define TO_FLOAT convert_float8
#define TO_INT convert_int8
#define TO_UINT convert_uint8
#define LANE_INDEX ((int8)(0, 1, 2, 3, 4, 5, 6, 7))
#endif

static inline float lane(FLOAT v, int k) {
    union { FLOAT vector; float lanes[WIDTH]; } all;
    all.vector = v;
    return all.lanes[k];
}

static inline int int_lane(INT v, int k) {
    union { INT vector; int lanes[WIDTH]; } all;
    all.vector = v;
    return all.lanes[k];
}

static inline INT one_if(INT condition) {  // a comparison gives 1 on scalars, −1 on vectors
#if WIDTH == 1
    return condition;
#else
    return select((INT)0, (INT)1, condition);  // Oclgrind computes 255 for −condition
#endif
}

static inline int lanes_sum(INT v) {
#if WIDTH == 1
    return v;
#else
    int4 s = v.lo + v.hi;
    return s.x + s.y + s.z + s.w;
#endif
}

static inline int any_lane(INT condition) {  // OpenCL's any() looks at the sign bit, which a scalar's 1 does not set
#if WIDTH == 1
    return condition;
#else
    return any(condition);
#endif
}

static inline int all_lanes(INT condition) {
#if WIDTH == 1
    return condition;
#else
    return all(condition);
#endif
}

// Loads WIDTH values from p on, of which the first `count` exist; beyond them the last one is repeated.
static inline FLOAT load(__global const float *p, int count) {
#if WIDTH == 1
    return *p;
#else
    if (count >= WIDTH) return vload8(0, p);
    float s[WIDTH];
    for (int k = 0; k < WIDTH; k++) s[k] = p[min(k, count - 1)];
    return vload8(0, s);
#endif
}

static inline void store(FLOAT v, __global float *p, int count) {
#if WIDTH == 1
    *p = v;
#else
    if (count >= WIDTH) {
        vstore8(v, 0, p);
    } else {
        for (int k = 0; k < count; k++) p[k] = lane(v, k);
    }
#endif
}

// Adds neighbours: p and q are 2 · WIDTH values of a row.
static inline FLOAT in_pairs(FLOAT p, FLOAT q) {
#if WIDTH == 1
    return p + q;
#else
    return (FLOAT)(p.even + p.odd, q.even + q.odd);
#endif
}

// LOG2, EXP2 and RECIP are within 3 ulp of 2^-24. With NATIVE, reciprocals are within 2 ulp for 2^-126 … 2^126; log2 is
// within 2^-21 for x in 0.5 … 2, and within 3 ulp elsewhere; exp2 is within 3 + 2 |x| ulp: Vulkan and Direct3D demand
// this of these instructions. A library's functions take tens of instructions.
#if defined(NATIVE) && defined(__NV_CL_C_VERSION)
// NVIDIA's native_ functions spend three more instructions each on subnormals, whatever the build options say.
static inline float native_log2_flushed(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static inline float native_exp2_flushed(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static inline float native_recip_flushed(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

#define LOG2 native_log2_flushed
#define EXP2 native_exp2_flushed
#define RECIP native_recip_flushed
#elif defined(FINITE)
// These leave out what finite numbers do not need: on PoCL they take a half to two thirds of the library's time.

// x = 2^e (1 + m) with √½ ≤ 1 + m < √2; a polynomial gives log2(1 + m) within 3 ulp. 0 and subnormals give −∞.
static inline FLOAT log2_finite(FLOAT x) {
    INT bits = AS_INT(x) - 0x3f3504f3;
    FLOAT m = AS_FLOAT((bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
    FLOAT p = fma(m, (FLOAT)0.12614846f, (FLOAT)-0.20742103f);
    p = fma(p, m, (FLOAT)0.21566986f);
    p = fma(p, m, (FLOAT)-0.23892035f);
    p = fma(p, m, (FLOAT)0.28791832f);
    p = fma(p, m, (FLOAT)-0.36070484f);
    p = fma(p, m, (FLOAT)0.4809106f);
    p = fma(p, m, (FLOAT)-0.7213473f);
    p = fma(p, m, (FLOAT)1.442695f);
    return select((FLOAT)-INFINITY, fma(p, m, TO_FLOAT(bits >> 23)), x >= FLT_MIN);
}

// 2^x = 2^n 2^f with −½ ≤ f ≤ ½; a polynomial gives 2^f within 1 ulp and the argument's own error. x is clamped to
// −127 … 126; −127 gives 0.
static inline FLOAT exp2_finite(FLOAT x) {
    x = fmin(fmax(x, -127.0f), 126.0f);
    FLOAT shifted = x + 12582912.0f;  // 1.5 · 2^23 leaves no bits below 1
    FLOAT f = x - (shifted - 12582912.0f);
    FLOAT p = fma(f, (FLOAT)0.00015469732f, (FLOAT)0.0013400433f);
    p = fma(p, f, (FLOAT)0.009618025f);
    p = fma(p, f, (FLOAT)0.05550327f);
    p = fma(p, f, (FLOAT)0.2402265f);
    p = fma(p, f, (FLOAT)0.6931472f);
    p = fma(p, f, (FLOAT)1.0f);
    return AS_FLOAT(AS_INT(p) + (AS_INT(shifted) << 23));
}

#define LOG2 log2_finite
#define EXP2 exp2_finite
#define RECIP(x) (1.0f / (x))
#elif defined(NATIVE)
#define LOG2 native_log2
#define EXP2 native_exp2
#define RECIP(x) (1.0f / (x))  // native_recip has only 14 bits on some devices
#else
#define LOG2 log2
#define EXP2 exp2
#define RECIP(x) (1.0f / (x))
#endif

// x^p for x ≥ 0. The relative error is at most 3e-7 · (1 + |p log2 x|), with NATIVE 5e-7 · (1 + |p| · (1 + |log2 x|)).
// powr would be no more accurate where it matters, and is up to 100 times slower on CPUs.
static inline FLOAT power(FLOAT x, float p) {
    return EXP2(p * LOG2(x));
}

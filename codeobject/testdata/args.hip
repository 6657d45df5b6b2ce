// A little of everything that a code object can hold.
#define KERNEL extern "C" __attribute__((global)) void
typedef const __attribute__((address_space(4))) unsigned char *implicit;

struct parcel {
    char tag;
    double weight;
    short size[3];
};

__attribute__((device)) int counter = 42;
__attribute__((constant)) float table[4] = {1, 2, 3, 4};
__attribute__((device)) int *to_counter = &counter + 1;
__attribute__((managed)) int shared_value = 7;

// Arguments of every size and a structure; LDS, static and dynamic; all hidden
// arguments, because the pointer to them is used as data.
KERNEL everything(char a, short b, int c, long d, float e, double f, parcel p, int *out, const float *__restrict in) {
    __attribute__((shared)) static int fixed[32];
    extern __attribute__((shared)) int dynamic[];
    implicit hidden = (implicit)__builtin_amdgcn_implicitarg_ptr();
    fixed[__builtin_amdgcn_workitem_id_x() & 31] = out[0];
    dynamic[c] = b;
    __builtin_amdgcn_s_barrier();
    out[0] = a + b + c + (int)d + (int)e + (int)f + p.tag + (int)p.weight + p.size[2] + (int)in[c] + fixed[c & 31] + dynamic[b] +
             hidden[c] + counter + (int)table[c & 3] + *to_counter + shared_value;
}

KERNEL none() {}

KERNEL __attribute__((amdgpu_flat_work_group_size(64, 64))) small(int *out) { out[__builtin_amdgcn_workgroup_id_y()] = 1; }

// A name of 300 letters.
#define TEN(a) a##a##a##a##a##a##a##a##a##a
#define PASTE(a) TEN(a)
KERNEL PASTE(long_name_of_a_kernel_)(int *out) { *out = 1; }

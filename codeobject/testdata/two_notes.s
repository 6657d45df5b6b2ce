// Two kernels in assembly, each with a metadata note of its own, as Tensile
// writes them, and one kernel with no metadata at all.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.amdhsa_code_object_version 4

.macro kernel name
.text
.globl \name
.p2align 8
.type \name,@function
\name:
  s_endpgm
.L\name\()_end:
.size \name, .L\name\()_end - \name
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 20
  .amdhsa_next_free_sgpr 30
  .amdhsa_accum_offset 12
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_kernarg_size 24
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_vgpr_workitem_id 1
.end_amdhsa_kernel
.endm

kernel first
kernel second
kernel bare

.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.kernels:
  - .name: first
    .symbol: first.kd
    .language: OpenCL C
    .language_version: [2, 0]
    .args:
      - {.name: a, .size: 8, .offset: 0, .value_kind: by_value, .value_type: u64}
      - {.name: b, .size: 4, .offset: 8, .value_kind: by_value, .value_type: u32}
    .group_segment_fixed_size: 1024
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .max_flat_workgroup_size: 256
    .private_segment_fixed_size: 0
    .sgpr_count: 30
    .vgpr_count: 20
    .wavefront_size: 64
.end_amdgpu_metadata

.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.kernels:
  - .name: second
    .symbol: second.kd
    .args: []
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 16
    .kernarg_segment_size: 32
    .max_flat_workgroup_size: 512
    .private_segment_fixed_size: 0
    .sgpr_count: 30
    .vgpr_count: 20
    .wavefront_size: 64
    .reqd_workgroup_size: [16, 4, 2]
.end_amdgpu_metadata

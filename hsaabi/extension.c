#include "extension.h"

#include "ready.h"
#include "_cgo_export.h"

const char *rw_hsa_build(void)
{
	return "rocwire";
}

static hsa_status_t host_address(const void *device, const void **host)
{
	if (!rw_hsa_ready())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!device || !host)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return rw_hsa_loader_host_address((uintptr_t)device, (GoUint64 *)host);
}

static hsa_status_t segments(hsa_ven_amd_loader_segment_descriptor_t *list, size_t *count)
{
	if (!rw_hsa_ready())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!count)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return rw_hsa_loader_segments(list, (GoUint64 *)count);
}

static hsa_status_t executable_of(const void *device, hsa_executable_t *executable)
{
	if (!rw_hsa_ready())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!device || !executable)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return rw_hsa_loader_executable((uintptr_t)device, (GoUint64 *)&executable->handle);
}

static hsa_status_t loaded(hsa_executable_t executable, hsa_status_t (*callback)(hsa_executable_t, hsa_loaded_code_object_t, void *), void *data)
{
	if (!rw_hsa_ready())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return rw_hsa_loader_objects(executable.handle, (void *)callback, data);
}

static hsa_status_t loaded_info(hsa_loaded_code_object_t object, hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value)
{
	if (!rw_hsa_ready())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return rw_hsa_loader_object_info(object.handle, attribute, value);
}

static hsa_status_t reader_of_part(hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *reader)
{
	if (!rw_hsa_ready())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!reader)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return rw_hsa_loader_reader(file, offset, size, (GoUint64 *)&reader->handle);
}

static hsa_status_t executables(hsa_status_t (*callback)(hsa_executable_t, void *), void *data)
{
	if (!rw_hsa_ready())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return rw_hsa_loader_executables((void *)callback, data);
}

const hsa_ven_amd_loader_1_03_pfn_t rw_hsa_loader_table = {host_address, segments, executable_of, loaded, loaded_info, reader_of_part, executables};

const hsa_ext_images_1_pfn_t rw_hsa_image_table = {
	hsa_ext_image_get_capability, hsa_ext_image_data_get_info, hsa_ext_image_create, hsa_ext_image_destroy, hsa_ext_image_copy,
	hsa_ext_image_import, hsa_ext_image_export, hsa_ext_image_clear, hsa_ext_sampler_create, hsa_ext_sampler_destroy,
	hsa_ext_image_get_capability_with_layout, hsa_ext_image_data_get_info_with_layout, hsa_ext_image_create_with_layout, hsa_ext_sampler_create_v2,
};

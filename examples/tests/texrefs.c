/* Texture references: their fields. A device without images has none. */
#include "test.h"

static textureReference ref;

static void fields(void)
{
	hipArray_Format format = HIP_AD_FORMAT_HALF;
	enum hipTextureFilterMode filter = hipFilterModePoint;
	enum hipTextureAddressMode mode = hipAddressModeWrap;
	int channels = 0, most = 0;
	float bias = 0, low = 0, high = 0, color[4] = {0};
	CHECK(hipTexRefSetFormat(&ref, HIP_AD_FORMAT_UNSIGNED_INT16, 2));
	CHECK(hipTexRefGetFormat(&format, &channels, &ref));
	ASSERT(format == HIP_AD_FORMAT_UNSIGNED_INT16 && channels == 2);
	EXPECT(hipTexRefGetFormat(NULL, &channels, &ref), hipErrorInvalidValue);
	EXPECT(hipTexRefSetFormat(NULL, HIP_AD_FORMAT_FLOAT, 1), hipErrorInvalidValue);
	CHECK(hipTexRefSetFilterMode(&ref, hipFilterModeLinear));
	CHECK(hipTexRefGetFilterMode(&filter, &ref));
	ASSERT(filter == hipFilterModeLinear);
	CHECK(hipTexRefSetAddressMode(&ref, 1, hipAddressModeMirror));
	CHECK(hipTexRefGetAddressMode(&mode, &ref, 1));
	ASSERT(mode == hipAddressModeMirror);
	EXPECT(hipTexRefSetAddressMode(&ref, 3, hipAddressModeMirror), hipErrorInvalidValue);
	EXPECT(hipTexRefGetAddressMode(&mode, &ref, 2), hipErrorInvalidValue);
	CHECK(hipTexRefSetMaxAnisotropy(&ref, 8));
	CHECK(hipTexRefGetMaxAnisotropy(&most, &ref));
	ASSERT(most == 8);
	/* AMD's library answers these three, and says that they are wrong. */
	CHECK(hipTexRefSetMipmapFilterMode(&ref, hipFilterModeLinear));
	filter = hipFilterModePoint;
	EXPECT(hipTexRefGetMipmapFilterMode(&filter, &ref), hipErrorInvalidValue);
	ASSERT(filter == hipFilterModeLinear);
	CHECK(hipTexRefSetMipmapLevelBias(&ref, 1.5f));
	EXPECT(hipTexRefGetMipmapLevelBias(&bias, &ref), hipErrorInvalidValue);
	ASSERT(bias == 1.5f);
	CHECK(hipTexRefSetMipmapLevelClamp(&ref, 2, 3));
	EXPECT(hipTexRefGetMipmapLevelClamp(&low, &high, &ref), hipErrorInvalidValue);
	ASSERT(low == 2 && high == 3);
	CHECK(hipTexRefSetBorderColor(&ref, color));
	EXPECT(hipTexRefSetBorderColor(&ref, NULL), hipErrorInvalidValue);
}

static void without(void)
{
	hipArray_Format format;
	enum hipTextureFilterMode filter;
	enum hipTextureAddressMode mode;
	int n;
	EXPECT(hipTexRefSetFormat(&ref, HIP_AD_FORMAT_FLOAT, 1), hipErrorNotSupported);
	EXPECT(hipTexRefGetFormat(&format, &n, &ref), hipErrorNotSupported);
	EXPECT(hipTexRefSetFilterMode(&ref, hipFilterModeLinear), hipErrorNotSupported);
	EXPECT(hipTexRefGetFilterMode(&filter, &ref), hipErrorNotSupported);
	EXPECT(hipTexRefSetAddressMode(&ref, 0, hipAddressModeWrap), hipErrorNotSupported);
	EXPECT(hipTexRefGetAddressMode(&mode, &ref, 0), hipErrorNotSupported);
	EXPECT(hipTexRefGetMaxAnisotropy(&n, &ref), hipErrorNotSupported);
	EXPECT(hipTexRefSetFormat(NULL, HIP_AD_FORMAT_FLOAT, 1), hipErrorInvalidValue);
}

int main(void)
{
	int images = 0;
	CHECK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	if (images)
		fields();
	else
		without();
	return result("texture references");
}

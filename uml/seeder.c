// Loaded into the process of a User-Mode Linux kernel (LD_PRELOAD), which asks its host for random
// bytes once, at boot: answers with bytes made from the seed in IMPAIRLAB_UML_SEED, so that the
// random numbers of everything in the guest are the same in every run. SplitMix64, as in
// src/splitmix.rs.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static uint64_t state;

__attribute__((constructor)) static void read_seed(void)
{
	const char *seed = getenv("IMPAIRLAB_UML_SEED");
	state = seed ? strtoull(seed, NULL, 10) : 0;
}

static uint64_t next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	(void)flags;
	for (size_t done = 0; done < length;) {
		uint64_t word = next();
		size_t part = length - done < sizeof word ? length - done : sizeof word;
		memcpy((char *)buffer + done, &word, part);
		done += part;
	}
	return (ssize_t)length;
}

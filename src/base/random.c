#include "base/random.h"

static uint64_t splitmix64(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

qp_random qp_random_seed(uint64_t seed)
{
    qp_random r;
    for (int i = 0; i < 4; i++)
        r.s[i] = splitmix64(&seed);
    return r;
}

/* xoshiro256** by Blackman and Vigna (public domain). */
uint64_t qp_random_next(qp_random *r)
{
    uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

/* Lemire's multiplication, with rejection so that it is exactly uniform. */
uint64_t qp_random_below(qp_random *r, uint64_t n)
{
    unsigned __int128 product = (unsigned __int128)qp_random_next(r) * n;
    if ((uint64_t)product < n)
        for (uint64_t least = -n % n; (uint64_t)product < least;)
            product = (unsigned __int128)qp_random_next(r) * n;
    return (uint64_t)(product >> 64);
}

double qp_random_unit(qp_random *r)
{
    return (double)(qp_random_next(r) >> 11) * 0x1p-53;
}

void qp_random_shuffle(qp_random *r, uint32_t *at, uint32_t n)
{
    for (uint32_t i = 0; i + 1 < n; i++) {
        uint32_t j = i + (uint32_t)qp_random_below(r, n - i), other = at[i];
        at[i] = at[j];
        at[j] = other;
    }
}

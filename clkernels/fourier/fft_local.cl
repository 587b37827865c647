// The kernel that transforms POINTS points in one launch: the steps of fft_stages.cl in the order that STAGES says.
// After fft_stages.cl and, where there are such steps, fft_rader.cl and fft_pairs.cl. Global: groups · GROUP, 1-D; local: GROUP.

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void fft_local(ARGUMENTS) {
    const uint id = get_local_id(0);
    const int set = SETS > 1 ? id / ITEMS % SETS : 0;
    const Shape s = SHAPE;
    COUNTERS
#if PLACES > 0
    __local moved memory[PLACES];
#endif
#ifdef ALONG
    const uint item = id % ITEMS, column = id / (ITEMS * SETS), own = column * (PLACES / GROUP_COLUMNS);
#else
    const uint item = id / GROUP_COLUMNS, column = id % GROUP_COLUMNS, own = column;
#endif
    const Place all = place(get_group_id(0), column, GROUP_COLUMNS, s);
    Place v[CARRIED];  // where the work-item's sequences are
    EACH_CARRIED carried(v + slot, all, slot % JOINED, SETS > 1 ? set : slot / JOINED, s);
#if SETS > 1
    Place w[CARRIED];  // where those are that it has at the spectrum's end
    EACH_CARRIED {
        const int other = 2 * slot >= CARRIED;
        carried(w + slot, all, slot + (other ? -set : set) * (CARRIED / 2), other, s);
    }
#endif
#if JOINED > 1
    real2 turn[CARRIED];
    EACH_CARRIED if (slot % JOINED) turn[slot] = roots[v[slot].k * (slot % JOINED)];
#endif
#if ITEMS > 1
    REGISTERS
#endif
    STAGES
    COUNT
}


// Stands behind sample.cu, but for lattices, which do not adapt.
extern "C" __global__ void __launch_bounds__(THREADS) sampleAdapting(SampleTask t) { sampleLeaves<true>(t); }

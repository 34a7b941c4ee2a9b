//! Which of two programs is faster, where there is no doubt.

use tilewright_ir::CacheState;
use tilewright_simulator::{Prediction, Resource, chip_named, simulate, simulate_from};

use crate::support::{cube, predict, program};

const GOOD: &str = "register.m=6 register.n=16 tile.m=96 tile.k=256 pack.a=tile pack.b=tile unroll=4";

fn milliseconds(workload: &str, schedule: &str) -> f64 {
    predict(workload, schedule).time_ns / 1e6
}

#[test]
fn a_good_kernel_is_near_the_ceiling_and_never_above_it() {
    for extent in [64, 96, 192, 384, 768, 1536] {
        let schedule = if extent < 300 { "register.m=6 register.n=16 pack.b=tile unroll=4" } else { GOOD };
        let prediction = predict(&cube(extent), schedule);
        let ceiling = 2.0 * (extent as f64).powi(3) / 32.0;
        let share = ceiling / prediction.cycles;
        assert!((0.75..=1.0).contains(&share), "{extent}: {share}");
    }
}

#[test]
fn no_kernel_is_above_the_ceiling() {
    for schedule in [
        "register.m=1",
        "register.m=10",
        "register.m=3 register.n=24",
        "vector=k pack.b=tile register.m=3 register.n=3",
    ] {
        assert!(predict(&cube(256), schedule).cycles > 256_f64.powi(3) / 16.0, "{schedule}");
    }
}

#[test]
fn a_tiny_register_tile_waits_for_its_sums() {
    let (tiny, good) = (predict(&cube(512), "register.m=1 register.n=8"), predict(&cube(512), GOOD));
    assert!(tiny.cycles > 3.0 * good.cycles);
    let few = predict(&cube(64), "register.m=2 register.n=8 pack.b=tile");
    assert_eq!(few.bottleneck, Resource::Dependency.to_string());
}

#[test]
fn packing_pays_where_strides_collide() {
    let unpacked = milliseconds(&cube(1024), "register.m=6 register.n=16 unroll=4");
    let packed = milliseconds(&cube(1024), "register.m=6 register.n=16 unroll=4 pack.b=tile");
    assert!(unpacked > 1.1 * packed, "{unpacked} {packed}");
}

#[test]
fn packing_does_not_pay_for_one_row() {
    let workload = "matmul:m=1,n=4096,k=512,dtype=f32";
    let unpacked = milliseconds(workload, "register.n=48");
    assert!(unpacked < milliseconds(workload, "register.n=48 pack.b=tile"));
}

#[test]
fn packing_again_and_again_costs() {
    let once = milliseconds(&cube(512), "register.m=6 register.n=16 pack.b=tile tile.m=6 order=nkm");
    let often =
        milliseconds(&cube(512), "register.m=6 register.n=16 pack.b=tile tile.m=6 tile.n=256 order=mnk");
    assert!(often > 2.0 * once, "{often} {once}");
}

#[test]
fn a_tile_that_outgrows_its_cache_draws_more() {
    let traffic = |schedule: &str| {
        let prediction = predict(&cube(1536), schedule);
        prediction.traffic.iter().map(|level| level.read_bytes).collect::<Vec<_>>()
    };
    let fits = traffic("register.m=6 register.n=16 tile.m=96 tile.k=256 pack.a=tile pack.b=tile");
    let too_large = traffic("register.m=6 register.n=16 tile.m=1536 tile.k=1536 pack.a=tile pack.b=tile");
    assert!(too_large[1] > 2.0 * fits[1], "{fits:?} {too_large:?}");
}

#[test]
fn farther_levels_deliver_less() {
    for schedule in
        ["register.m=4 register.n=16", GOOD, "vector=k register.m=3 register.n=3 pack.b=whole tile.k=64"]
    {
        let traffic = predict(&cube(512), schedule).traffic;
        assert!(
            traffic.windows(2).all(|pair| pair[1].read_bytes <= pair[0].read_bytes * 1.001),
            "{traffic:?}"
        );
    }
}

#[test]
fn a_short_reduction_tile_moves_the_output_often() {
    let long = milliseconds(&cube(512), "register.m=6 register.n=16 pack.b=tile tile.k=256");
    let short = milliseconds(&cube(512), "register.m=6 register.n=16 pack.b=tile tile.k=4");
    assert!(short > 2.0 * long, "{short} {long}");
}

#[test]
fn two_workers_are_faster_and_imbalance_shows() {
    let one = milliseconds(&cube(1024), GOOD);
    let two = milliseconds(&cube(1024), &format!("{GOOD} threads=m.outer deal=cyclic"));
    assert!((0.5..0.7).contains(&(two / one)), "{two} {one}");
    let uneven = "register.m=6 register.n=16 tile.m=348 threads=m.outer deal=cyclic pack.b=tile";
    assert!(milliseconds(&cube(1024), uneven) > 1.2 * two);
}

#[test]
fn barriers_weigh_on_small_problems() {
    let alone = milliseconds(&cube(32), "register.m=4 register.n=16");
    let shared = milliseconds(&cube(32), "register.m=4 register.n=16 threads=m.outer");
    assert!(shared > 0.5 * alone);
}

#[test]
fn an_epilogue_costs_its_vectors() {
    let workload = "matmul:m=512,n=512,k=64,dtype=f32";
    let plain = milliseconds(workload, "register.m=6 register.n=16 pack.b=tile");
    let silu = milliseconds(&format!("{workload},epilogue=silu"), "register.m=6 register.n=16 pack.b=tile");
    assert!(silu > plain * 1.05, "{silu} {plain}");
}

#[test]
fn cold_caches_cost_memory_traffic() {
    let program = program(&cube(256), "register.m=6 register.n=16 pack.b=tile");
    let chip = chip_named("amd_zen3").unwrap();
    let warm = simulate(&program, chip).unwrap();
    let cold = simulate_from(&program, chip, CacheState::Cold).unwrap();
    assert!(cold.time_ns > 1.05 * warm.time_ns);
    let memory = |prediction: &Prediction| prediction.traffic.last().unwrap().read_bytes;
    assert!(memory(&cold) >= 3.0 * 256.0 * 256.0 * 4.0 * 0.9, "{}", memory(&cold));
    assert!(memory(&warm) < 1e4);
}

#[test]
fn the_same_program_gives_the_same_prediction() {
    let program = program(&cube(509), GOOD);
    let chip = chip_named("amd_zen4").unwrap();
    let first = simulate(&program, chip).unwrap();
    assert_eq!(first, simulate(&program.clone(), chip).unwrap());
    assert!(!first.illustrative);
    assert!(simulate(&program, chip_named("generic_avx2").unwrap()).unwrap().illustrative);
}

#[test]
fn vector_times_of_resources_are_consistent() {
    let prediction = predict(&cube(512), GOOD);
    let multiply_adds = prediction.resource(&Resource::MultiplyAdd).unwrap();
    assert!((multiply_adds.busy_cycles / (512_f64.powi(3) / 16.0) - 1.0).abs() < 0.05);
    let bound: f64 = prediction.resources.iter().map(|time| time.bound_cycles).sum();
    assert!((bound / prediction.cycles - 1.0).abs() < 1e-9);
}

/**
 * A simulation of whole conversations with faults, for a random seed.
 *
 * @module
 */

export { shrinkSimulation } from './shrink.ts';
export { type Simulation, type SimulationOptions, simulate, type Violation } from './simulate.ts';

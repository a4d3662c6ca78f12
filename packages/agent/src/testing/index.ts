/**
 * A scripted model, a clock moved by hand, cassettes, and the contracts that implementations pass.
 *
 * @module
 */

export { type Player, type PlayerOptions, player } from '../cassette/player.ts';
export { type RecorderOptions, recorder } from '../cassette/recorder.ts';
export type { Tape, TapeControl } from '../cassette/recording.ts';
export type { Seeds } from './agent-contract/laws.ts';
export type { AgentLink, ContractSubject } from './agent-contract/subject.ts';
export { type AgentContractOptions, agentContract } from './agent-contract.ts';
export { ContractFailure } from './assertion.ts';
export { type BlobsSubject, blobsContract } from './blobs-contract.ts';
export { type CancelDrillOptions, type CancelFigures, drillCancels } from './cancel-drill.ts';
export { type Chunking, chunksOf } from './chunking.ts';
export type { ContractCase } from './contract-case.ts';
export { describeContract, type TestRunner } from './describe-contract.ts';
export { type ExecutorSubject, executorContract } from './executor-contract.ts';
export { type FakeRuntime, type FakeRuntimeOptions, fakeRuntime } from './fake-runtime.ts';
export { type GateDoor, gateContract } from './gate-contract.ts';
export { handlerTransport } from './handler-transport.ts';
export { harnessScene, type SceneOptions } from './harness-contract/scene.ts';
export type { HarnessStand, HarnessSubject, SubjectOptions } from './harness-contract/stand.ts';
export { refusingStore } from './harness-contract/stand.ts';
export { harnessContract } from './harness-contract.ts';
export {
  type FailedRequest,
  type FoundPart,
  type FoundRequest,
  type Inverse,
  inverse,
  wordFor,
} from './inverse.ts';
export { type Loopback, serveLoopback } from './loopback.ts';
export {
  type AnswerPlay,
  answersStatus,
  type Ending,
  type FaultPlay,
  failsWith,
  type HangUpPlay,
  type LivePlay,
  LiveStream,
  type Play,
  plays,
  type RawPlay,
  type SilentPlay,
} from './play.ts';
export { errorResponse, framesOf, type Performance, perform } from './player.ts';
export type * from './provider-testing.ts';
export { type Lacks, randomAnswer, randomPlay } from './random-answer.ts';
export { type RandomHistory, randomHistory } from './random-history.ts';
export { type ContractProblem, type ContractTotals, runContract } from './run-contract.ts';
export { contractRoutine, contractRoutines, type RoutineMeans } from './runner-contract/routines.ts';
export type { Counter, RunnerAbility, RunnerPlace, RunnerStand } from './runner-contract/stand.ts';
export { runnerContract } from './runner-contract.ts';
export { callBlock, pieces, scriptAnswer, scriptModel, scriptUsage, tell } from './script.ts';
export { scriptTesting } from './script-testing.ts';
export { type ScriptWireConfig, scriptCapabilities, scriptProvider, scriptWire } from './script-wire.ts';
export {
  type ScriptedAgent,
  type ScriptedAgentOptions,
  type ScriptedAnswer,
  type ScriptStep,
  scriptedAgent,
} from './scripted-agent.ts';
export { type SeededRandom, seededRandom } from './seeded-random.ts';
export { shrinkSimulation } from './simulation/shrink.ts';
export {
  type Simulation,
  type SimulationOptions,
  simulate,
  type Violation,
} from './simulation/simulate.ts';
export type { StorePlace, StoreSubject } from './store-contract/cases.ts';
export { storeContract } from './store-contract.ts';
export { assertValidHistory } from './valid-history.ts';
export {
  type Exchange,
  type Handler,
  type WireScript,
  type WireServer,
  type WireServerOptions,
  wireServer,
} from './wire-server.ts';

/**
 * A scripted model, a clock moved by hand, cassettes, assertions, and mock services for providers.
 *
 * @module
 */

export { type Player, type PlayerOptions, player } from '../cassette/player.ts';
export { type RecorderOptions, recorder } from '../cassette/recorder.ts';
export type { Recording, RecordingControl } from '../cassette/recording.ts';
export { maxOutputBytes } from '../values/truncate.ts';
export { isNoUsage } from '../values/usage.ts';
export { ContractFailure, expect, expectEqual, expectOneOf, show } from './assertion.ts';
export { checkRun, type Watched } from './check-run.ts';
export { type Chunking, chunksOf } from './chunking.ts';
export type { ContractCase } from './contract-case.ts';
export { ofType, outline, resultsOf, resultTexts } from './conversation.ts';
export { type FakeRuntime, type FakeRuntimeOptions, fakeRuntime } from './fake-runtime.ts';
export { handlerTransport } from './handler-transport.ts';
export {
  errorText,
  type FailedRequest,
  type FoundPart,
  type FoundRequest,
  type MockWire,
  mockWire,
} from './inverse.ts';
export { type Loopback, serveLoopback } from './loopback.ts';
export {
  answersStatus,
  type DisconnectReply,
  type Ending,
  type FaultReply,
  failsWith,
  type LiveReply,
  LiveStream,
  type MockReply,
  type RawReply,
  type ResponseReply,
  replies,
  type SilentReply,
} from './play.ts';
export { errorResponse, framesOf, type ReplyContext, serveReply, stepFrames } from './player.ts';
export { type ProbeRun, type ProbeTools, probeTools } from './probe-tools.ts';
export type * from './provider-testing.ts';
export { RunFixture, type Spoil } from './run-fixture.ts';
export { type Scenario, type Staged, scenarios } from './scenarios.ts';
export {
  blockSteps,
  callBlock,
  responseSteps,
  responseStepsUntil,
  scriptModel,
  scriptResponse,
  scriptUsage,
  splitText,
  textOfBlock,
} from './script.ts';
export { scriptTesting } from './script-testing.ts';
export { type ScriptWireConfig, scriptCapabilities, scriptProvider, scriptWire } from './script-wire.ts';
export {
  type ScriptedAgent,
  type ScriptedAgentOptions,
  type ScriptedAnswer,
  type ScriptStep,
  scriptedAgent,
} from './scripted-agent.ts';
export {
  calls,
  failedResponse,
  type ModelStep,
  modelResponse,
  noResponse,
  pendingResponse,
  type ResponseFields,
  type ScriptedCall,
  type ScriptedModel,
  scriptedModel,
  scriptedUsage,
  textResponse,
} from './scripted-model.ts';
export { type SeededRandom, seededRandom } from './seeded-random.ts';
export { answered, ended, eventsOf, said, wholeRun, worked, write } from './stored-events.ts';
export { assertValidHistory } from './valid-history.ts';
export {
  type Exchange,
  type Handler,
  type WireScript,
  type WireServer,
  type WireServerOptions,
  wireServer,
} from './wire-server.ts';

/**
 * Test utilities: a scripted model, a manual clock, assertions, and mock services for providers.
 *
 * @module
 */

export { maxOutputBytes } from '../values/sizes.ts';
export { isNoUsage } from '../values/usage.ts';
export { ContractFailure, expect, expectEqual, expectOneOf, show } from './assertion.ts';
export { checkRun, type Watched } from './check-run.ts';
export type { ContractCase } from './contract-case.ts';
export { ofType, outline, resultsOf, resultTexts } from './conversation.ts';
export { type FakeRuntime, type FakeRuntimeOptions, fakeRuntime } from './fake-runtime.ts';
export { type ProbeRun, type ProbeTools, probeTools } from './probe-tools.ts';
export { RunFixture, type Spoil } from './run-fixture.ts';
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
export { type Chunking, chunksOf, joinFrames } from './service/chunking.ts';
export { handlerTransport } from './service/handler-transport.ts';
export {
  errorText,
  type FailedRequest,
  type FoundPart,
  type FoundRequest,
  type MockWire,
  mockWire,
} from './service/inverse.ts';
export { type Loopback, serveLoopback } from './service/loopback.ts';
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
} from './service/play.ts';
export {
  errorResponse,
  framed,
  framesOf,
  type ReplyContext,
  serveReply,
  stepFrames,
} from './service/player.ts';
export type * from './service/provider-testing.ts';
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
} from './service/script.ts';
export { type SeededRandom, seededRandom } from './service/seeded-random.ts';
export {
  type Exchange,
  type Handler,
  type WireScript,
  type WireServer,
  type WireServerOptions,
  wireServer,
} from './service/wire-server.ts';
export { answered, ended, eventsOf, said, wholeRun, worked, write } from './stored-events.ts';
export { assertValidHistory } from './valid-history.ts';

/**
 * The contracts that providers, stores, budgets, runners, gates, harnesses and executors must pass.
 *
 * @module
 */

export { type AgentContractOptions, agentContract } from './agent/agent-contract.ts';
export type { Seeds } from './agent/laws/laws.ts';
export type { AgentLink, ContractNetwork, ContractSubject } from './agent/setup/subject.ts';
export { wireCases } from './agent/wire-cases.ts';
export { budgetStoreContract } from './budgets/budget-store-contract.ts';
export type { BudgetInstance, BudgetSubject } from './budgets/case.ts';
export { type CancelDrillOptions, type CancelFigures, drillCancels } from './drill/cancel-drill.ts';
export {
  type ExecutorContractOptions,
  type ExecutorSubject,
  executorContract,
} from './executor/executor-contract.ts';
export { type GateDoor, gateContract } from './gate/gate-contract.ts';
export type { HarnessEnvironment, HarnessSubject, SubjectOptions } from './harness/environment.ts';
export { refusingStore } from './harness/environment.ts';
export { type HarnessFixtureOptions, harnessFixture } from './harness/fixture.ts';
export { harnessContract } from './harness/harness-contract.ts';
export { type RandomHistory, randomHistory } from './random/random-history.ts';
export { randomReply, randomResponse, type Unsupported } from './random/random-response.ts';
export { describeContract, type TestRunner } from './report/describe-contract.ts';
export { firstSteps } from './report/first-steps.ts';
export { type ContractProblem, type ContractTotals, runContract } from './report/run-contract.ts';
export type { Counter, RunnerAbility, RunnerEnvironment, RunnerInstance } from './runner/environment.ts';
export { runnerContract } from './runner/runner-contract.ts';
export { type ContractWorkflowContext, contractWorkflow, contractWorkflows } from './runner/workflows.ts';
export { type BlobsSubject, blobsContract } from './store/blobs-contract.ts';
export type { StoreInstance, StoreSubject } from './store/case.ts';
export { storeContract } from './store/store-contract.ts';

/**
 * Runs the contract of a provider against its mock service as msw handlers, in two ways: msw intercepts the
 * global fetch, or a local server responds to Node's transport.
 *
 * @module
 */

export {
  type ContractWay,
  contractWays,
  type DescribeWaysOptions,
  describeWays,
  quickWayCases,
  type WayRunner,
  wayCases,
} from './contract-ways.ts';
export { type MockedSubject, mockResolver } from './mocked-subject.ts';
export { type BatchLink, batchCases, payloadsOf, withoutPauses } from './over-batches.ts';
export { overFetch } from './over-fetch.ts';
export { overNode } from './over-node.ts';

/**
 * Runs the contract of a provider over its mock service as msw handlers, in two ways: msw intercepts the web's fetch, or
 * a port of this machine answers Node's transport.
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
export { overFetch } from './over-fetch.ts';
export { overNode } from './over-node.ts';

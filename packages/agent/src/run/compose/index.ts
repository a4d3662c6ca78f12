/**
 * Agents that consist of other agents: one that takes over when another fails, and one that chooses by the request.
 *
 * @module
 */

export type { ModelRef, TriedModel } from '../../interfaces/agent.ts';
export { type FallbackOptions, fallback } from './fallback.ts';
export { type RoutedRequest, type RouteOptions, route } from './route.ts';

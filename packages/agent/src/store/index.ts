/**
 * Everything for implementing a session store.
 *
 * @module
 */

export { foldVersion } from '../events/state.ts';
export { type CostTotals, costFields, totalCosts } from './cost-totals.ts';
export {
  type CostEntry,
  type CostGroup,
  type CostKind,
  type CostQuery,
  type CostRow,
  type CostSum,
  costCsv,
  costGroups,
  costNames,
  costRows,
  dayStarts,
  eventCosts,
  mergeCosts,
  quartersOf,
} from './costs.ts';
export { type Forecast, type ForecastData, forecastOf } from './forecast.ts';
export type { Fork } from './fork-session.ts';
export type { MemoryStoreOptions } from './memory-store.ts';
export { readCostQuery, readCosts } from './read-costs.ts';
export type { Parent, SessionHead, SessionStats, Share, ShareLevel } from './session-info.ts';
export { addToStats, changedShares, emptyStats, sessionInfo, titleOf } from './session-info.ts';
export { SnapshotPlan, type SnapshotTexts } from './snapshot-plan.ts';
export {
  checkRetention,
  checkSessionId,
  cursorOf,
  invalidPosition,
  isSessionId,
  type ListCursor,
  type ListOptions,
  type Origin,
  pageSize,
  parseCursor,
  type Retention,
  type SearchHit,
  type SearchPage,
  type SearchQuery,
  type SessionPage,
  sequenceGap,
  sessionIdPattern,
  sessionInUse,
  type Writer,
  writerReplaced,
} from './store.ts';
export {
  readEvents,
  readListOptions,
  readOrigin,
  readRetention,
  readShareLevel,
  readWriter,
} from './store-arguments.ts';

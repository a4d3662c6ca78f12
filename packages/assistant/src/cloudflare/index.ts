/**
 * The assistant on Cloudflare: Workflows, D1, Vectorize, Workers AI.
 *
 * @module
 */

export {
  type SqliteMemoryOptions as D1MemoryOptions,
  sqliteMemory as d1Memory,
} from '../sqlite/sqlite-memory.ts';
export {
  type CloudflareRunner,
  type CloudflareRunnerOptions,
  cloudflareRunner,
} from './cloudflare-runner.ts';
export { type D1AuditLines, d1AuditLines } from './d1-audit.ts';
export { type D1BudgetsOptions, d1Budgets } from './d1-budgets.ts';
export { type D1, type D1Answer, type D1Statement, d1Sql } from './d1-sql.ts';
export type { Vectorize, VectorizeEntry, VectorizeMatches, VectorizeQuery } from './vectorize.ts';
export { type VectorizeMemoryOptions, vectorizeMemory } from './vectorize-memory.ts';
export type { WorkersAi, WorkersAiEmbedderOptions } from './workers-ai-embedder.ts';
export { workersAiEmbedder } from './workers-ai-embedder.ts';
export type {
  WorkflowBinding,
  WorkflowInstance,
  WorkflowParams,
  WorkflowStep,
  WorkflowStepConfig,
} from './workflow.ts';
export { runWorkflow, type WorkflowRunOptions } from './workflow-run.ts';

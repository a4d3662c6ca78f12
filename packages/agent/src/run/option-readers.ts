import type { AskedCompaction } from '../context/compaction.ts';
import type { ContextPolicy } from '../context/context.ts';
import type { Offload } from '../context/offload.ts';
import type { RequestConfig } from '../interfaces/agent.ts';
import { readAgent, readEffort } from '../interfaces/agent.ts';
import type { Budget } from '../interfaces/budget.ts';
import { countLimit } from '../interfaces/budget.ts';
import type { Limits } from '../interfaces/limits.ts';
import { readTool } from '../interfaces/tool.ts';
import { readStore } from '../store/open-session.ts';
import type { Reader, Readers } from '../values/input.ts';
import {
  amount,
  any,
  callable,
  count,
  flag,
  limited,
  listOf,
  oneOf,
  record,
  signal,
  text,
  when,
  withMethods,
} from '../values/input.ts';
import type { Runtime } from '../values/runtime.ts';
import { maxPromptBytes } from '../values/sizes.ts';
import { readHook } from './hook.ts';
import type { AdvanceOptions, ExecutorOptions, ResumeOptions } from './options.ts';

/** Maximum number of characters of the id of a run, because each of its events contains it. */
const maxIdLength = 1_000;

const id: Reader<string> = when(
  (value) => typeof value === 'string' && value !== '' && value.length <= maxIdLength,
  'a string of 1 to 1000 characters',
);

const offload = record<Offload>({ tool: readTool, overBytes: amount, put: callable }, [
  'tool',
  'overBytes',
  'put',
]);

const lines = listOf(text);

/** Reads instructions. */
export const systemText: Reader<string | readonly string[]> = limited(maxPromptBytes, (value) =>
  (Array.isArray(value) ? lines : text)(value),
);

/** Reads the settings of a model request. */
export const requestConfig: Reader<RequestConfig> = record<RequestConfig>({
  maxTokens: amount,
  // -1 is the default of the provider.
  temperature: when((value) => Number.isFinite(value), 'a number'),
  toolChoice: oneOf('auto', 'none'),
  effort: readEffort,
  cache: flag,
  purpose: oneOf('summary'),
});

const readBudget = withMethods<Budget>('take', 'reserve', 'left', 'hold');

const executorFields: Readers<ExecutorOptions> = {
  agent: readAgent,
  tools: listOf(readTool),
  system: systemText,
  request: requestConfig,
  limits: record<Limits>({
    turns: countLimit,
    toolCalls: countLimit,
    tokens: amount,
    usd: amount,
    repeats: countLimit,
    ms: amount,
  }),
  budget: readBudget,
  onLimit: oneOf('return', 'finalize'),
  onReached: oneOf('end', 'ask'),
  toolErrors: oneOf('continue', 'stop-batch'),
  toolScheduling: oneOf('parallel', 'sequential'),
  toolConcurrency: amount,
  gate: callable,
  hooks: listOf(readHook),
  attended: flag,
  // Whole milliseconds, because they are added to a time that is stored.
  approvalMs: count,
  context: record<ContextPolicy>({
    maxTokens: amount,
    compact: callable,
    offload,
  }),
  pricing: callable,
  user: id,
  allowUnpriced: flag,
  store: readStore,
  storeTimeoutMs: amount,
  runtime: withMethods<Runtime>('now', 'monotonic', 'timer', 'random', 'id', 'digest'),
};

/** Reads the options of an executor. */
export const executorOptions: Reader<ExecutorOptions> = record<ExecutorOptions>(executorFields, ['agent']);

const runFields: Readers<AdvanceOptions & Pick<ResumeOptions, 'compact'>> = {
  signal,
  onEvent: callable,
  output: any,
  sessionId: text,
  runId: id,
  user: id,
  budget: readBudget,
  prompt: any,
  answers: any,
  compact: record<AskedCompaction>({ keep: limited(maxPromptBytes, text) }),
  waitEnded: oneOf('time', 'message'),
};

/** Reads the options of a run. */
export const runOptions: Reader<Partial<AdvanceOptions> & Pick<ResumeOptions, 'compact'>> = record(runFields);

/** Reads the options of one action. */
export const advanceOptions: Reader<AdvanceOptions> = record(runFields, ['sessionId', 'runId']);

import type {
  AdvanceOptions,
  AsToolOptions,
  ExecutorOptions,
  RunOptions,
  Tool,
  ToolDefinition,
} from '@cobbler/agent';
import { defineTool, Executor } from '@cobbler/agent';
import { keepLast, memoryBlobs, offload } from '@cobbler/agent/context';
import type { RunFixture } from '@cobbler/agent/testing';
import { calls, scriptedModel, textResponse } from '@cobbler/agent/testing';
import type { Place } from './place.ts';
import { place, runPrompt, structured, toolCallingAgent, toolWith, untyped } from './place.ts';

/** The fields of a type, all of them: a new field of the options must be listed here. */
type Fields<Options> = Readonly<Record<keyof Options, true>>;

const executorFields: Fields<ExecutorOptions> = {
  ...{ agent: true, tools: true, system: true, request: true, limits: true, onLimit: true, toolErrors: true },
  onReached: true,
  ...{
    toolScheduling: true,
    toolConcurrency: true,
    gate: true,
    hooks: true,
    attended: true,
    approvalMs: true,
    context: true,
    pricing: true,
    user: true,
  },
  ...{ budget: true, allowUnpriced: true, store: true, storeTimeoutMs: true, runtime: true },
};

const runFields: Fields<RunOptions> = {
  ...{ signal: true, onEvent: true, output: true, sessionId: true, runId: true, user: true, budget: true },
};

const advanceFields: Fields<Omit<AdvanceOptions, 'prompt' | 'answers'>> = {
  waitEnded: true,
  ...{ signal: true, onEvent: true, output: true, sessionId: true, runId: true, user: true, budget: true },
};

const asToolFields: Fields<AsToolOptions> = {
  ...{ name: true, description: true, maxOutputBytes: true, mayRepeat: true, locks: true },
  ...{ effect: true, timeoutMs: true, output: true },
};

const toolFields: Fields<Omit<Tool, '~calls'>> = {
  ...{ name: true, description: true, parameters: true, execute: true, effect: true, timeoutMs: true },
  ...{ maxOutputBytes: true, mayRepeat: true, locks: true, subject: true, mustAsk: true, preview: true },
  ...{ validate: true, waitUntil: true, untrusted: true, sends: true, concurrency: true },
};

/** The fields of options within options, by their path. */
const nested: Readonly<Record<string, (value: unknown) => object>> = {
  'agent.run': (run) => ({ agent: { ...toolCallingAgent(), run } }),
  'agent.provider': (provider) => ({ agent: { ...toolCallingAgent(), provider } }),
  'agent.model': (model) => ({ agent: { ...toolCallingAgent(), model } }),
  'agent.maxTokens': (maxTokens) => ({
    agent: { ...toolCallingAgent(), maxTokens },
    limits: { tokens: 1e6 },
  }),
  'agent.capabilities': (capabilities) => ({ agent: { ...toolCallingAgent(), capabilities } }),
  'agent.capabilities.contextTokens': (contextTokens) => ({
    agent: { ...toolCallingAgent(), capabilities: { ...toolCallingAgent().capabilities, contextTokens } },
    context: { compact: keepLast(2) },
  }),
  'tools[0]': (tool) => ({ tools: [tool] }),
  'tools[1]': (tool) => ({ tools: [toolWith(), tool] }),
  'system[0]': (line) => ({ system: [line, 'Be kind.'] }),
  'request.maxTokens': (maxTokens) => ({ request: { maxTokens }, limits: { tokens: 1e6 } }),
  'request.temperature': (temperature) => ({ request: { temperature } }),
  'request.toolChoice': (toolChoice) => ({ request: { toolChoice } }),
  'request.effort': (effort) => ({ request: { effort } }),
  'request.cache': (cache) => ({ request: { cache } }),
  'limits.turns': (turns) => ({ limits: { turns } }),
  'limits.toolCalls': (toolCalls) => ({ limits: { toolCalls } }),
  'limits.tokens': (tokens) => ({ limits: { tokens } }),
  'limits.usd': (usd) => ({ limits: { usd }, pricing: () => ({ input: 1, output: 2 }) }),
  'limits.repeats': (repeats) => ({ limits: { repeats } }),
  'limits.ms': (ms) => ({ limits: { ms } }),
  'context.maxTokens': (maxTokens) => ({ context: { maxTokens, compact: keepLast(2) } }),
  'context.compact': (compact) => ({ context: { compact, maxTokens: 1 } }),
  'context.offload': (offloaded) => ({ context: { offload: offloaded } }),
  'context.offload.tool': (tool) => ({ context: { offload: { ...offload(memoryBlobs()), tool } } }),
  'context.offload.put': (put) => ({ context: { offload: { ...offload(memoryBlobs()), put } } }),
  'context.offload.overBytes': (overBytes) => ({
    context: { offload: { ...offload(memoryBlobs()), overBytes } },
  }),
  'hooks[0]': (hook) => ({ hooks: [hook] }),
  'hooks[0].name': (name) => ({ hooks: [{ name }] }),
  'hooks[0].beforeRequest': (beforeRequest) => ({ hooks: [{ name: 'h', beforeRequest }] }),
  beforeRequest: (value) => ({ hooks: [{ name: 'h', beforeRequest: () => value }] }),
  beforeTool: (value) => ({ hooks: [{ name: 'h', beforeTool: () => value }] }),
  afterTool: (value) => ({ hooks: [{ name: 'h', afterTool: () => value }] }),
  afterRun: (value) => ({ hooks: [{ name: 'h', afterRun: () => value }] }),
  'store.claim': (claim) => ({ store: storeWith({ claim }) }),
  'store.append': (append) => ({ store: storeWith({ append }) }),
  'store.read': (read) => ({ store: storeWith({ read }) }),
};

function storeWith(fields: object): object {
  return { claim: () => 1, append: () => undefined, read: () => [], sessions: () => [], ...fields };
}

function asTool(setup: RunFixture, options: unknown): unknown {
  const tool = setup.executor({ agent: toolCallingAgent() }).asTool(untyped<AsToolOptions>(options));
  const agent = scriptedModel([
    calls([{ name: tool.name, arguments: { prompt: 'x' } }]),
    textResponse('Ok.'),
  ]);
  return runPrompt(setup, { agent, tools: [tool] });
}

function advance(setup: RunFixture, options: unknown): unknown {
  return setup
    .executor({ agent: toolCallingAgent(), tools: [toolWith()] })
    .advance(untyped<AdvanceOptions>(options));
}

function define(setup: RunFixture, definition: unknown): unknown {
  return runPrompt(setup, { tools: [defineTool(untyped<ToolDefinition<unknown>>(definition))] });
}

const advanced = { sessionId: 'here', runId: 'run-1', prompt: 'Go.' };
const named = { name: 'sub', description: 'Another agent.' };

/** The constructor and the options of runs, of `asTool` and of `defineTool`. */
export const optionPlaces: readonly Place[] = [
  place('Executor: options', (_, options) => void new Executor(untyped<ExecutorOptions>(options)), 'options'),
  ...Object.keys(executorFields).map((field) =>
    place(`Executor: options.${field}`, (setup, value) => runPrompt(setup, { [field]: value }), field),
  ),
  ...Object.entries(nested).map(([path, options]) =>
    place(
      `Executor: options.${path}`,
      (setup, value) => runPrompt(setup, options(value)),
      path,
      path.startsWith('store') ? 'store' : path.replace(/^.*\./, ''),
      // The error of the function itself.
      ...(path === 'agent.run' || path === 'context.compact' ? [''] : []),
    ),
  ),
  place('run: options', (setup, options) => runPrompt(setup, {}, 'Go.', options), 'options'),
  ...Object.keys(runFields).map((field) =>
    place(`run: options.${field}`, (setup, value) => runPrompt(setup, {}, 'Go.', { [field]: value })),
  ),
  ...['name', 'schema', 'toJsonSchema'].map((field) =>
    place(`run: options.output.${field}`, (setup, value) => {
      const schema = { type: 'object', properties: { a: { type: 'string' } } };
      return runPrompt(setup, { agent: structured() }, 'Go.', { output: { schema, [field]: value } });
    }),
  ),
  place('advance: options', advance, 'options'),
  ...Object.keys(advanceFields).map((field) =>
    place(`advance: options.${field}`, (setup, value) => advance(setup, { ...advanced, [field]: value })),
  ),
  place('asTool: options', asTool, 'options'),
  ...Object.keys(asToolFields).map((field) =>
    place(`asTool: options.${field}`, (setup, value) => asTool(setup, { ...named, [field]: value })),
  ),
  place('defineTool: definition', define, 'definition'),
  ...[...Object.keys(toolFields), 'toJsonSchema'].map((field) =>
    place(`defineTool: definition.${field}`, (setup, value) => define(setup, toolWith({ [field]: value }))),
  ),
  ...['type', 'properties', 'required', 'a', '$ref', 'enum', 'pattern'].map((keyword) =>
    place(
      `defineTool: definition.parameters.${keyword}`,
      (setup, value) => define(setup, toolWith({ parameters: { type: 'object', [keyword]: value } })),
      'parameters',
    ),
  ),
  ...Object.keys(toolFields).map((field) =>
    place(`Executor: options.tools[0].${field}`, (setup, value) =>
      runPrompt(setup, { tools: [toolWith({ [field]: value })] }),
    ),
  ),
];

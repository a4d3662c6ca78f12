import type {
  Agent,
  AssistantPart,
  Message,
  ModelRequest,
  RequestContext,
  Tool,
  Usage,
} from '@cobbler/agent';
import { AgentError, defineTool, noUsage, textOf, toolOutput } from '@cobbler/agent';

/** The response of the fixture's model to one request. */
export interface Line {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
  /** The delay between two text chunks, in milliseconds. Default 0: all at once. */
  readonly paceMs?: number;
  /** The error with which the response ends, after its content. */
  readonly error?: AgentError;
  readonly stop?: 'complete' | 'max_tokens';
}

/** Returns the next response for a conversation. */
export type Play = (said: string, results: readonly Message[], request: ModelRequest) => Line;

/** Creates a model whose responses come from a script, at the pace of the script. */
export function sceneAgent(play: Play): Agent {
  let ids = 0;
  return {
    provider: 'scene',
    model: 'scene-model',
    capabilities: {
      files: ['*/*'],
      reasoning: true,
      parallelCalls: true,
      output: 'native',
      sampling: true,
      cacheUsage: true,
    },
    async run(request, context = {}) {
      const { messages } = request;
      const at = messages.findLastIndex(({ role }) => role === 'user');
      const said = messages[at] === undefined ? '' : textOf(messages[at]);
      const line = play(
        said,
        messages.slice(at + 1).filter(({ role }) => role === 'tool_result'),
        request,
      );
      const content = await spoken(line, context, () => `call_${++ids}`);
      if (line.error !== undefined) throw line.error;
      const usage = usageOf(messages, content);
      const calls = content.filter((part) => part.type === 'tool_call');
      return {
        content: line.text ?? '',
        toolCalls: calls.map(({ id, toolName, arguments: given }) => ({ id, toolName, arguments: given })),
        usage,
        stopReason: line.stop ?? (calls.length > 0 ? 'tool_use' : 'complete'),
        message: { role: 'assistant', content },
        model: 'scene-model',
        attempts: 1,
        wasted: { inputTokens: 0, outputTokens: 0 },
      };
    },
  };
}

async function spoken(
  line: Line,
  { emit, signal }: RequestContext,
  id: () => string,
): Promise<AssistantPart[]> {
  const content: AssistantPart[] = [];
  const { paceMs = 0 } = line;
  for (const kind of ['reasoning', 'text'] as const) {
    const text = line[kind];
    if (text === undefined) continue;
    const index = content.length;
    for (const piece of text.match(/\S+\s*|\s+/g) ?? []) {
      emit?.({ type: `${kind}_delta`, index, text: piece });
      if (paceMs > 0) await wait(paceMs, signal);
    }
    emit?.({ type: kind, index, text });
    content.push({ type: kind, text });
  }
  for (const { name, arguments: given } of line.calls ?? []) {
    const call = { id: id(), toolName: name, arguments: given };
    emit?.({ type: 'tool_call', index: content.length, call });
    content.push({ type: 'tool_call', ...call });
  }
  return content;
}

/** Returns about as many tokens as a real model would report. */
function usageOf(messages: readonly Message[], content: readonly AssistantPart[]): Usage {
  const inputTokens = 1_200 + Math.round(JSON.stringify(messages).length / 4);
  return {
    inputTokens,
    cacheReadTokens: messages.length > 1 ? Math.round(inputTokens * 0.72) : 0,
    outputTokens: 20 + Math.round(JSON.stringify(content).length / 4),
  };
}

/** Resolves after a delay; rejects if the run is cancelled. */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      // The tokens used until then are paid for.
      const wasted = { inputTokens: 1_200, outputTokens: 40 };
      reject(new AgentError({ kind: 'aborted', message: 'Cancelled.', wasted }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export const diff = `--- a/src/sum.js
+++ b/src/sum.js
@@ -1,6 +1,8 @@
 // Adds two numbers.
-export const sum = (a, b) => a - b;
+export const sum = (a, b) => a + b;
 
 export function total(values) {
-  return values.reduce(sum);
+  // Without a first value an empty list would throw.
+  return values.reduce(sum, 0);
 }
+export const none = 0;
`;

export const testOutput = `[exit 1]
TAP version 13
# Subtest: adds two numbers
not ok 1 - adds two numbers
  ---
  duration_ms: 0.83
  error: 'Expected 5, got -1'
  code: 'ERR_ASSERTION'
  ...
# tests 2
# pass 1
# fail 1
`;

export const longOutput: string = `[exit 0]\n${Array.from({ length: 10_000 }, (_, at) => `${at + 1}  ok  case number ${at + 1} of the long list, which does what it says`).join('\n')}\n`;

/** A diff whose lines are much wider than a window. */
function wideDiff(lines: number): string {
  const added = Array.from({ length: lines }, (_, at) => `+${'wide '.repeat(200)}${at + 1}\n`).join('');
  return `--- src/sum.js\n+++ src/sum.js\n@@ -0,0 +1,${lines} @@\n${added}`;
}

/** Returns the tools of the fixture: they change nothing and return realistic output. */
export function sceneTools(): Tool[] {
  const parameters = { type: 'object', additionalProperties: true } as const;
  const tool = (name: string, rest: Pick<Tool, 'execute'> & Partial<Tool>) =>
    defineTool({ name, description: `The tool ${name}.`, parameters, ...rest });
  return [
    tool('read_file', {
      effect: 'read',
      execute: () =>
        toolOutput({
          content: '1 | // Adds two numbers.\n2 | export const sum = (a, b) => a - b;',
          summary: '2 lines',
        }),
    }),
    tool('run_command', {
      async execute({ command, ms = 0 }, { signal, progress }) {
        if (typeof ms === 'number' && ms > 0) {
          for (let line = 1; line <= 12; line += 1) progress(`line ${line} of ${String(command)}`);
          await wait(ms, signal);
        }
        if (String(command).includes('all')) return toolOutput({ content: longOutput, summary: 'exit 0' });
        if (String(command).includes('fail')) return toolOutput({ content: testOutput, summary: 'exit 1' });
        return toolOutput({ content: '[exit 0]\n# tests 2\n# pass 2\n# fail 0\n', summary: 'exit 0' });
      },
      preview: async () => ({ summary: 'in the workspace' }),
    }),
    tool('edit_file', {
      execute: () =>
        toolOutput({ content: 'Replaced 1 passage in src/sum.js (+4 -2).', summary: '+4 -2', diff }),
      mustAsk: ({ lines }) => (lines === undefined ? undefined : 'This file is protected.'),
      preview: async ({ lines = 0 }) =>
        typeof lines === 'number' && lines > 0
          ? { summary: `+${lines} -0`, diff: wideDiff(lines) }
          : { summary: '+4 -2', diff },
    }),
    tool('agent', {
      effect: 'read',
      async execute({ task, ms = 300 }, { signal, step, budget }) {
        step?.({ text: String(task) });
        for (const called of ['read_file', 'search_files', 'read_file']) {
          step?.({ called, text: 'src/sum.js' });
          await wait(Number(ms), signal);
        }
        step?.({ called: 'search_files', text: 'src/sum.js', isError: true });
        const spent = { usage: { inputTokens: 900, outputTokens: 100 }, wasted: noUsage, attempts: 1 };
        budget.spend(1_000, 0.02, {
          ...{ who: 'agent', provider: 'scene', model: 'small-model' },
          spent: { ...spent, durationMs: 1, usd: 0.02 },
        });
        return toolOutput({ content: 'It adds.', summary: '3 calls' });
      },
    }),
    tool('present_plan', {
      effect: 'read',
      execute: () => toolOutput({ content: 'The user approved the plan.', summary: 'approved' }),
      mustAsk: () => 'Do you approve this plan?',
    }),
    tool('update_todos', {
      effect: 'read',
      execute: () => toolOutput({ content: '[x] Read\n[>] Mend\n[ ] Test', summary: '1/3' }),
    }),
    tool('break', {
      execute: () => {
        throw new Error('The disk is full.');
      },
    }),
  ];
}

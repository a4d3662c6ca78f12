import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const maxSizes = 'packages/agent/src/values/sizes.ts';

/** The file and the name that contain the default of each resource in the table. */
const defaults: Readonly<Record<string, readonly [file: string, name: string]>> = {
  'sessions in the default store': ['packages/agent/src/loop/executor.ts', 'maxInMemory'],
  'bytes of sessions in memory': ['packages/agent/src/store/session-memory.ts', 'keepBytes'],
  'bytes of running and waiting sessions in memory': [
    'packages/agent/src/store/session-memory.ts',
    'maxBytes',
  ],
  '`read` tools running at the same time, per run': [
    'packages/agent/src/loop/executor.ts',
    'defaultToolConcurrency',
  ],
  'readers and listeners per run': ['packages/agent/src/run/feed.ts', 'maxWatchers'],
  'live events queued for a slow reader': ['packages/agent/src/run/feed.ts', 'maxLiveWaiting'],
  'bytes of the live events queued for a slow reader': ['packages/agent/src/run/feed.ts', 'maxLiveBytes'],
  'unread characters in `run.text()`': ['packages/agent/src/run/run-text.ts', 'maxUnreadLength'],
  'bytes in a prompt or steering message, in all steering messages that wait for the next turn, or in all prompts that wait in a harness':
    [maxSizes, 'maxPromptBytes'],
  'steering messages that wait for the next turn of a run, or prompts that wait in a harness': [
    maxSizes,
    'maxWaiting',
  ],
  "bytes in the system text, or in a hook's `continueWith`": [maxSizes, 'maxPromptBytes'],
  'bytes in the declarations of all tools in a run: names, descriptions and parameters': [
    maxSizes,
    'maxDeclarationBytes',
  ],
  'characters in a run id': ['packages/agent/src/run/option-readers.ts', 'maxIdLength'],
  'bytes in a response': [maxSizes, 'maxAnswerBytes'],
  'calls in a response, and therefore approval requests that wait in a run': [maxSizes, 'maxCalls'],
  'bytes in one frame of a response': ['packages/agent/src/values/line-text.ts', 'maxFrameBytes'],
  'bytes read from an error response': ['packages/agent/src/provider/http/error-body.ts', 'maxErrorBytes'],
  'characters in an error message': [maxSizes, 'maxErrorLength'],
  'bytes in the arguments of a call': [maxSizes, 'maxArgumentBytes'],
  'bytes of text in a tool result': [maxSizes, 'maxOutputBytes'],
  'bytes in the subject or diff of a call, or in the message with a decision': [maxSizes, 'maxOutputBytes'],
  'bytes in a summary for users, in a step, or in the reason why a user must decide': [
    maxSizes,
    'maxNoteBytes',
  ],
  'recorded steps of a call': [maxSizes, 'maxSteps'],
  'bytes in one progress report': [maxSizes, 'maxProgressBytes'],
  'bytes of files in a tool result': ['packages/agent/src/loop/tool-run.ts', 'maxFileBytes'],
  'bytes in one offloaded output': ['packages/agent/src/loop/tool-output.ts', 'maxKept'],
  'bytes in a summary for compaction': [maxSizes, 'maxOutputBytes'],
  'bytes in `memoryBlobs`': ['packages/agent/src/interfaces/blobs.ts', 'maxBytes'],
  'bytes in `fileBlobs`': ['packages/agent/src/node/file-blobs.ts', 'maxBytes'],
  'steps of a JSON Schema validation': ['packages/agent/src/json-schema/full-schema.ts', 'maxSteps'],
  'duration of a tool call, in milliseconds': ['packages/agent/src/loop/tool-run.ts', 'defaultTimeoutMs'],
  'duration of a wait, in milliseconds': ['packages/tools/src/wait-until.ts', 'maxWaitMs'],
  'levels in a budget tree': ['packages/agent/src/store/budgets/budget-store.ts', 'maxDepth'],
  'characters in a budget name or a reservation id': [
    'packages/agent/src/store/budgets/definition.ts',
    'maxNameLength',
  ],
  'reservations by crashed processes that can still be settled': [
    'packages/agent/src/store/budgets/budget-book.ts',
    'maxCharged',
  ],
  'balances of one budget in `memoryBudgets`': [
    'packages/agent/src/store/budgets/memory-budgets.ts',
    'maxPeriods',
  ],
  'records that wait because an audit log cannot be written': [
    'packages/agent/src/audit/record.ts',
    'maxWaiting',
  ],
  'duration of an append to the store, in milliseconds': [
    'packages/agent/src/loop/executor.ts',
    'storeTimeoutMs',
  ],
  'runs in a `memoryRunner` that have not ended': [
    'packages/agent/src/runner/memory-runner.ts',
    'defaultMaxOpen',
  ],
  'runs in a runner that share a key, are due and wait, such as the messages in a chat': [
    'packages/agent/src/runner/inbox.ts',
    'maxQueued',
  ],
  'ended runs in a runner': ['packages/agent/src/runner/inbox.ts', 'maxRuns'],
  "bytes in a run's input or output, or in a signal to the run": [
    'packages/agent/src/values/json-text.ts',
    'maxResultBytes',
  ],
  'bytes in a message from an MCP server': ['packages/tools/src/mcp/transport.ts', 'maxMessageBytes'],
  'tools from an MCP server': ['packages/tools/src/mcp/mcp.ts', 'maxTools'],
  'entries in the tool list of an MCP server': ['packages/tools/src/mcp/connection.ts', 'maxEntries'],
  'bytes in a line from a delegated program': ['packages/delegate/src/cli/line-reader.ts', 'maxLineBytes'],
  'bytes that a delegated program prints in one task': [
    'packages/delegate/src/cli/cli-process.ts',
    'maxPrintedBytes',
  ],
  'bytes in the final text of a delegated program': [
    'packages/delegate/src/events/final-text.ts',
    'maxOutput',
  ],
  'running background commands of all sessions': [
    'packages/tools/src/background/background-commands.ts',
    'mostInAll',
  ],
  'running background commands of a session': [
    'packages/tools/src/background/background-commands.ts',
    'mostRunning',
  ],
  'connections of a sandboxed command at the same time': [
    'packages/agent/src/node/sandbox/host-proxy.ts',
    'maxConnections',
  ],
  'bytes in the header of a request that a sandboxed command sends through its proxy': [
    'packages/agent/src/node/sandbox/host-proxy.ts',
    'maxHeaderBytes',
  ],
  'time without data on a connection of a sandboxed command, in milliseconds': [
    'packages/agent/src/node/sandbox/host-proxy.ts',
    'idleMs',
  ],
  'sessions per `agent` tool': ['packages/delegate/src/agent-tool/agent-tool.ts', 'maxSessions'],
  'characters in a message from Telegram': ['packages/assistant/src/telegram/read-update.ts', 'maxText'],
  'turns per minute for each user of the assistant': ['packages/assistant/src/assistant.ts', 'count'],
  'event streams from a server': ['apps/server/src/requests/limits.ts', 'clients'],
  'sessions that a server keeps in memory': ['apps/server/src/requests/limits.ts', 'sessions'],
  'sessions whose chosen model a server keeps in memory': [
    'apps/cli/src/server/session-models.ts',
    'maxChosen',
  ],
  'bytes that a server buffers for a client': ['apps/server/src/requests/limits.ts', 'bufferBytes'],
  'bytes of output of a hook in a file': ['apps/cli/src/project/command-hooks.ts', 'maxOutputBytes'],
  'schedules, files with evals, or channels of an agent folder': [
    'packages/agent/src/node/definitions/folder-parts.ts',
    'maxParts',
  ],
  'cases in a file with evals': ['packages/agent/src/node/definitions/evals.ts', 'maxCases'],
  'bytes in a request to a server': ['apps/server/src/requests/limits.ts', 'bodyBytes'],
};

interface Row {
  readonly resource: string;
  readonly value: string;
  readonly test: string;
}

/** The rows of the table in the section "Limits on resources" of docs/limits.md. */
const rows = rowsOf(
  read('docs/limits.md')
    .split('\n## ')
    .find((section) => section.startsWith('Limits on resources')) ?? '',
);

function rowsOf(section: string): Row[] {
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) => {
    const [resource = '', value = '', , , test = ''] = line.slice(2, -2).split(' | ');
    return { resource, value, test };
  });
}

/** Returns the number that a source file assigns to a name, which can be a product such as 64 * 1024. */
function assigned(file: string, name: string): number {
  const found = [
    ...read(file).matchAll(
      new RegExp(`\\b${name}(?:: number)?(?: =|:|\\) \\?\\?| \\?\\?) (\\d[\\d_]*(?: \\* \\d[\\d_]*)*)`, 'g'),
    ),
  ];
  expect(
    found.map(([whole]) => whole),
    `${name} in ${file}`,
  ).toHaveLength(1);
  const factors = found[0]?.[1]?.split(' * ') ?? [];
  return factors.reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
}

describe('the table of limits on resources', () => {
  test('lists exactly the resources with a known default, in order [P29]', () => {
    expect(rows.map(({ resource }) => resource)).toEqual(Object.keys(defaults));
  });

  test.each(rows)('shows the default from the code: $resource', ({ resource, value }) => {
    const [file = '', name = ''] = defaults[resource] ?? [];
    expect(value).toBe(assigned(file, name).toLocaleString('en-US'));
  });

  test.each(rows)('names an existing test of the limit: $resource', ({ test: where }) => {
    const [, file = '', name = ''] = /^`([^`]+)`: (.+)$/.exec(where) ?? [];
    expect(read(file)).toContain(name);
  });
});

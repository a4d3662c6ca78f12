import type { Gate, Message, SessionStore } from '@cobbler/agent';
import { AgentError, memoryStore } from '@cobbler/agent';
import type {
  CobblerServer,
  FileRestoration,
  ServerModels,
  SessionCommand,
  SessionCommands,
  SessionPlaces,
  SessionSettings,
  SessionUndo,
  Undone,
} from '@cobbler/server';
import { startServer, TokenStore } from '@cobbler/server';
import type { Line, Play } from './scene.ts';
import { sceneAgent, sceneTools } from './scene.ts';

export const prose = `The failing test is **right**: \`sum\` subtracts. I will change the operator and look at what else uses it.

## What I found

| file | problem | weight |
|---|---|---|
| \`src/sum.js\` | subtracts instead of adding | high |
| \`src/total.js\` | no first value for \`reduce\` | low |

1. \`sum\` is used by \`total\` and by nobody else.
2. No test covers an empty list:
   - \`total([])\` throws today,
   - it should give \`0\`.

\`\`\`js
export const sum = (a, b) => a + b;

export function total(values) {
  return values.reduce(sum, 0);
}
\`\`\`

> The README says that all functions are pure. They are.

See [the manual](https://example.org/manual) for \`reduce\`.
`;

const fix: readonly ((results: readonly Message[]) => Line)[] = [
  () => ({
    reasoning: 'The user wants the failing test mended. First I have to see it fail, then read the source.',
    text: 'I will look at the failing test first.',
    calls: [
      { name: 'run_command', arguments: { command: 'node --test # fail' } },
      { name: 'read_file', arguments: { path: 'src/sum.js' } },
    ],
  }),
  () => ({
    text: '`sum` subtracts. I will change the operator.',
    calls: [{ name: 'edit_file', arguments: { path: 'src/sum.js', old_text: 'a - b', new_text: 'a + b' } }],
  }),
  () => ({ calls: [{ name: 'run_command', arguments: { command: 'node --test' } }] }),
  () => ({ text: '**Done.** `sum` adds now and all tests pass.' }),
];

export const plan =
  '# Faster builds\n\n1. Change `src/sum.js`  \n   - keep **the** export\n\n```js\nsum(1, 2)\n```\n';

const todos = [
  { text: 'Read', status: 'done' },
  { text: 'Mend', status: 'active' },
  { text: 'Test', status: 'open' },
];

/** Returns the next response of the fixture's model to a user message. */
const edit = { path: 'src/sum.js' };

export const scenePlay: Play = (said, results, { messages }) => {
  // After what the page adds to a message.
  const [word = '', ...rest] = said.replace(/^<attachment[\s\S]*<\/attachment>\s*/, '').split(' ');
  const text = rest.join(' ');
  const first = results.length === 0;
  switch (word) {
    case 'fix': {
      const turns = messages
        .slice(messages.findLastIndex(({ role }) => role === 'user'))
        .filter(({ role }) => role === 'assistant').length;
      return (fix[turns] ?? fix[3] ?? (() => ({})))(results);
    }
    case 'say':
      return { text };
    case 'raw':
      return { text: said.slice(4) };
    case 'prose':
      return { text: prose };
    case 'slowly':
      return {
        reasoning: 'Let me think about this for a moment.',
        text: prose,
        paceMs: Number(rest[0] ?? 40),
      };
    case 'write':
      return first
        ? {
            text: 'I will write it.',
            calls: [
              { name: 'edit_file', arguments: rest[0] === 'it' ? edit : { ...edit, lines: Number(rest[0]) } },
            ],
          }
        : { text: results.map((result) => JSON.stringify(result.content)).join(' ') };
    case 'run':
      return first ? { calls: [{ name: 'run_command', arguments: { command: text } }] } : { text: 'It ran.' };
    case 'each': {
      const calls = text.split(' / ').map((command) => ({ name: 'run_command', arguments: { command } }));
      return first ? { calls } : { text: 'They ran.' };
    }
    case 'work':
      return results.length < 200
        ? {
            text: `Step ${results.length + 1}.`,
            calls: [{ name: 'run_command', arguments: { command: `step ${results.length + 1}`, ms: 250 } }],
          }
        : { text: 'Worked.' };
    case 'delegate':
      return first
        ? {
            calls: [1, 2].map((at) => ({
              name: 'agent',
              arguments: { agent: 'explore', task: `Look ${at}.`, ms: 3_000 },
            })),
          }
        : { text: 'They looked.' };
    case 'plan':
      return first
        ? { text: 'I have a plan.', calls: [{ name: 'present_plan', arguments: { plan } }] }
        : { text: 'Carried out.' };
    case 'todos':
      return first ? { calls: [{ name: 'update_todos', arguments: { todos } }] } : { text: 'Listed.' };
    case 'everything': {
      const turn = results.length === 0 ? 0 : results.length === 3 ? 1 : 2;
      const each = ['a', 'b', 'c'].map((command) => ({
        name: 'run_command',
        arguments: { command, ms: 1_000 },
      }));
      const agents = [1, 2].map((at) => ({
        name: 'agent',
        arguments: { agent: 'explore', task: `Look ${at}.` },
      }));
      return { text: prose, paceMs: 8, ...(turn < 2 && { calls: turn === 0 ? each : agents }) };
    }
    case 'break':
      return first ? { calls: [{ name: 'break', arguments: {} }] } : { text: 'It broke.' };
    case 'fail':
      return {
        text: 'I will',
        error: new AgentError({
          kind: 'auth',
          message: '401 from api.example.org: the key from ANTHROPIC_API_KEY was refused.',
          status: 401,
          provider: 'scene',
          requestId: 'req_01hx',
        }),
      };
    default:
      return { text: `You said: ${said}` };
  }
};

/** Requires approval for edits, and for commands that start with `ask`. */
export const sceneGate: Gate = ({ toolName, arguments: given }) => {
  const asks =
    toolName === 'edit_file' || toolName === 'present_plan' || String(given['command']).startsWith('ask');
  return { type: asks ? 'ask' : 'allow' };
};

export interface ScenePlaces extends SessionPlaces {
  /** The rules that were saved, and the commands that were stopped. */
  readonly kept: string[];
  /** The contents of the files that every run has changed; null for one that does not exist. */
  readonly files: Record<string, string | null>;
  /** The commands in the background of every session. */
  commands: SessionCommand[];
}

/** Two directories, a rule for each command, and two files. */
export function scenePlaces(): ScenePlaces {
  const folders = ['/home/ada/shoes', '/home/ada/hats'];
  const chosen = new Map<string, string>();
  const planned = new Set<string>();
  const undone = new Map<string, Undone>();
  const earlier: Readonly<Record<string, string | null>> = { 'src/sum.js': 'a - b', 'src/none.js': null };
  const bytes = (text: string | null) => (text === null ? null : new TextEncoder().encode(text));
  const places: ScenePlaces = {
    kept: [],
    files: { 'src/sum.js': 'a + b', 'src/none.js': '0' },
    commands: [],
    open: async () => undefined,
    folderOf: (id) => chosen.get(id) ?? folders[0],
    folders: async () => folders,
    choose: (id, folder) => void chosen.set(id, folder),
    rulesFor: (_, request) => [`run_command(${String(request.arguments['command'])})`],
    keepRule: async (_, rule) => void places.kept.push(rule),
    plans: (id) => planned.has(id),
    plan: (id, isOn) => void (isOn ? planned.add(id) : planned.delete(id)),
    placeOf: () => ({ undo, commands }),
  };
  const restore = (files: readonly FileRestoration[]) => {
    for (const { path, before } of files) places.files[path] = before && new TextDecoder().decode(before);
  };
  const later = { ...places.files };
  const undo: SessionUndo = {
    restorations: async (_, runIds) =>
      Object.entries(runIds.has('undo') ? later : earlier).map(([path, text]) => {
        const now = places.files[path] ?? null;
        return { path, now: bytes(now), before: bytes(text), isChanged: now === 'theirs' };
      }),
    undone: (id) => undone.get(id),
    undo: async (files, from, id, seq) => {
      undone.set(id, { runId: 'undo', from, seq });
      restore(files);
    },
    redo: async (id, _, files) => {
      undone.delete(id);
      restore(files);
    },
  };
  const commands: SessionCommands = {
    list: () => places.commands,
    stop: async (_, id) => {
      places.kept.push(`stop ${id}`);
      places.commands = places.commands.map((one) => (one.id === id ? { ...one, status: 'stopped' } : one));
    },
    move: () => undefined,
  };
  return places;
}

export interface Rig {
  readonly server: CobblerServer;
  readonly store: SessionStore;
  readonly token: string;
  /** The address that `cobbler serve` prints. */
  readonly address: string;
  readonly close: () => Promise<void>;
  /** Sends a request to the server with the owner token, without the page. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;
}

/** Starts a server with the fixture. */
export async function rig(
  options: {
    store?: SessionStore;
    tokens?: TokenStore;
    port?: number;
    resumes?: boolean;
    approvalMs?: number;
    models?: ServerModels;
    places?: SessionPlaces;
    settings?: (sessionId: string) => Partial<SessionSettings>;
  } = {},
): Promise<Rig> {
  const store = options.store ?? memoryStore();
  const tokens = options.tokens ?? new TokenStore();
  const token = tokens.own();
  const server = await startServer({
    store,
    tokens,
    port: options.port ?? 0,
    ...(options.places !== undefined && { places: options.places }),
    ...(options.models !== undefined && {
      models: options.models,
      place: () => ({ folder: 'shoes', permission: 'asks before edits and commands' }),
    }),
    settings: (sessionId) => ({
      agent: sceneAgent(scenePlay),
      tools: sceneTools(),
      gate: sceneGate,
      toolErrors: 'continue',
      toolScheduling: 'parallel',
      limits: { turns: 500, repeats: 0 },
      ...(options.approvalMs !== undefined && { approvalMs: options.approvalMs }),
      pricing: () => ({ input: 3, output: 15, cacheRead: 0.3 }),
      ...options.settings?.(sessionId),
    }),
    resumes: options.resumes ?? true,
    limits: { drainMs: 100, heartbeatMs: 5_000 },
  });
  return {
    server,
    store,
    token,
    address: `${server.url}/#token=${token}`,
    close: () => server.close(),
    async ask(method, path, body) {
      const response = await fetch(server.url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return text === '' ? {} : JSON.parse(text);
    },
  };
}

import type { Agent, ContextPolicy, Event, Tool } from '@cobbler/agent';
import type { CommandDefinition } from '@cobbler/agent/definitions';
import { defined } from '@cobbler/agent/values';
import type { BackgroundCommands } from '@cobbler/tools';
import type { Notify } from '../../src/chat/attention.ts';
import { InteractiveChat } from '../../src/chat/chat.ts';
import type { ChatHost, ChatListener } from '../../src/chat/host.ts';
import type { ReadProgram } from '../../src/chat/input/clipboard.ts';
import { PromptHistory } from '../../src/chat/input/prompt-history.ts';
import { LocalHost } from '../../src/chat/local-host.ts';
import { permissionIn } from '../../src/config/permission-plan.ts';
import type { RunFlags } from '../../src/config/run-flags.ts';
import type { Permission } from '../../src/permissions/permission.ts';
import type { CliSessions } from '../../src/session/session-home.ts';
import { screenFor } from '../../src/terminal/screen.ts';
import { styleFor } from '../../src/terminal/style.ts';
import type { FakeIo } from '../support/fake-io.ts';
import { fakeIo, fakeRawKeyboard } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TinyScreen } from '../support/tiny-screen.ts';

export interface StageOptions {
  readonly agent: Agent;
  readonly tools?: readonly Tool[];
  readonly commands?: readonly CommandDefinition[];
  readonly context?: ContextPolicy;
  readonly folder?: string;
  readonly mode?: RunFlags['mode'];
  readonly allow?: readonly string[];
  readonly columns?: number;
  readonly notify?: Notify;
  readonly readProgram?: ReadProgram;
  readonly env?: Readonly<Record<string, string>>;
  readonly sessions?: CliSessions;
  readonly background?: BackgroundCommands;
  readonly sessionId?: string;
  /** Default: a local host. */
  readonly host?: (io: FakeIo) => ChatHost;
}

/** Timeout of each wait in milliseconds, shorter than the timeout of a test. */
const patienceMs = 60_000;

/** A chat in an in-memory terminal. */
export interface ChatStage {
  readonly io: FakeIo;
  readonly host: ChatHost;
  /** Resolves to the exit code when the chat exits. */
  readonly left: Promise<number>;
  /** Returns all output, including escape sequences. */
  bytes(): string;
  /** Returns the text that the terminal shows. */
  text(): string;
  /** Returns the last rows of the terminal. */
  foot(rows: number): string;
  type(...chunks: readonly string[]): void;
  /** Waits until the terminal shows a text, and advances the clock meanwhile. */
  until(words: string | RegExp): Promise<void>;
  /** Advances the clock by one second, so that an approval accepts keys. */
  ponder(): void;
  /** Returns the latest event listener of the chat, to which a test can send events. */
  readonly ear: () => ChatListener;
}

export async function chatStage(options: StageOptions): Promise<ChatStage> {
  const { columns = 80, env = {}, sessions } = options;
  const folder = options.folder ?? temporaryFolder();
  const keyboard = fakeRawKeyboard();
  const home = sessions === undefined ? temporaryFolder() : undefined;
  const fullEnv = { LANG: 'C.UTF-8', ...(home !== undefined && { COBBLER_HOME: home }), ...env };
  const io = fakeIo({ columns, rawKeyboard: keyboard, cwd: folder, env: fullEnv });
  const plan = { mode: options.mode ?? 'ask', allow: options.allow ?? [] } as const;
  const { permission } = await permissionIn(folder, plan, true, io.env);
  const host = options.host?.(io) ?? localHost(options, io, folder, permission);
  return await staged(host, options, io, keyboard);
}

function localHost(options: StageOptions, io: FakeIo, folder: string, permission: Permission): ChatHost {
  const { agent, sessions, background } = options;
  const asked = {
    agent,
    pricing: () => ({ input: 3, output: 15 }),
    failure: { host: 'model.example', model: agent.model, provider: agent.provider },
    note: { folder },
  };
  return new LocalHost({
    io,
    folder,
    selected: asked,
    permission,
    choose: async ({ effort }) => ({ ...asked, ...defined({ effort }) }),
    models: [{ name: 'other', text: 'another one' }],
    tools: () => options.tools ?? [],
    commands: options.commands ?? [],
    system: [],
    context: options.context ?? {},
    limits: { turns: 20 },
    allowUnpriced: false,
    facts: [],
    ...(sessions !== undefined && { sessions }),
    ...(background !== undefined && { background, close: () => background.close() }),
  });
}

async function staged(
  host: ChatHost,
  options: StageOptions,
  io: FakeIo,
  keyboard: ReturnType<typeof fakeRawKeyboard>,
): Promise<ChatStage> {
  const { columns = 80 } = options;
  const ears: ChatListener[] = [];
  const open = host.open.bind(host);
  host.open = (id, ear) => {
    ears.push(ear);
    return open(id, ear);
  };
  const screen = screenFor(io.stdout, io.env);
  const { sessionId } = options;
  const chat = new InteractiveChat({
    io,
    keyboard,
    screen,
    host,
    style: styleFor(screen),
    history: new PromptHistory(undefined),
    ...defined({ notify: options.notify, readProgram: options.readProgram }),
    ...(sessionId !== undefined && { sessionId }),
  });
  const left = chat.run();
  const shown = () => {
    const page = new TinyScreen(columns);
    page.write(io.stdout.text());
    return page.text();
  };
  return {
    io,
    host,
    left,
    bytes: () => io.stdout.text(),
    text: shown,
    foot: (rows) => shown().trimEnd().split('\n').slice(-rows).join('\n'),
    type: (...chunks) => {
      for (const chunk of chunks) keyboard.type(chunk);
    },
    async until(words) {
      // The limit is a time, not a loop count, because another process may do the awaited work.
      for (const began = performance.now(); performance.now() - began < patienceMs; ) {
        const text = shown();
        if (typeof words === 'string' ? text.includes(words) : words.test(text)) return;
        await new Promise((next) => setImmediate(next));
        io.clock.advance(10);
      }
      throw new Error(`${String(words)} did not appear:\n${shown()}`);
    },
    ponder: () => io.clock.advance(1000),
    ear: () => {
      const [last] = ears.slice(-1);
      if (last === undefined) throw new Error('The chat has opened no harness.');
      return last;
    },
  };
}

/** Returns the common fields of a stored event. */
export function head(seq: number): Pick<Event, 'v' | 'seq' | 'id' | 'time' | 'runId'> {
  return { v: 1, seq, id: `s-${seq}`, time: '2026-01-01T00:00:00.000Z', runId: 'elsewhere' };
}

import { AgentError } from '@cobbler/agent';
import type { FileConfig } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import { InteractiveChat } from '../chat/chat.ts';
import type { ChatHost } from '../chat/host.ts';
import { PromptHistory } from '../chat/input/prompt-history.ts';
import type { LocalHost } from '../chat/local-host.ts';
import { RemoteHost } from '../chat/remote-host.ts';
import { recordChildren } from '../config/backend.ts';
import { workFolder } from '../config/directory.ts';
import { openMcp } from '../config/mcp-servers.ts';
import { readPrompt } from '../config/prompt-input.ts';
import type { RawOptions, RunFlags } from '../config/run-flags.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { readSettings } from '../config/settings.ts';
import { withAgent } from '../project/agent-folder.ts';
import { Budgets } from '../run/budgets/budgets.ts';
import { chooseSession, flagsWithNote } from '../run/session-choice.ts';
import { openAudit } from '../session/audit.ts';
import type { CliSessions } from '../session/session-home.ts';
import { historyFile } from '../session/session-home.ts';
import { visible } from '../terminal/escape.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { screenFor } from '../terminal/screen.ts';
import { styleFor } from '../terminal/style.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { localConversations } from '../workplace/local-conversations.ts';

interface PreparedChat {
  readonly host: ChatHost;
  readonly sessionId?: string;
  readonly look?: Pick<FileConfig, 'notify' | 'theme' | 'vim'>;
  /** True if nothing of this chat may be stored. */
  readonly isFleeting?: boolean;
}

/**
 * Runs `cobbler chat`: a conversation in the terminal, here or on a server. Returns the exit code.
 * @param onTell called with a function that shows a line in the chat, if the server ends with the chat.
 */
export async function chat(
  words: readonly string[],
  options: RawOptions,
  io: Io,
  onTell?: (tell: (line: string) => void) => void,
): Promise<number> {
  const screen = screenFor(io.stdout, io.env);
  if (!io.stdin.tty || !screen.redraw) {
    throw new UsageError(
      'A chat needs a terminal that can redraw a line.',
      'Without one, pass the whole task: cobbler "fix the failing test"',
    );
  }
  const flags = readRunFlags(options);
  const { host, sessionId, isFleeting, look, close } = await prepareChat(
    flags,
    options,
    onTell !== undefined,
    io,
  );
  if (host instanceof RemoteHost) onTell?.((line) => host.tell(line));
  try {
    const prompt = words.length === 0 ? undefined : await readPrompt(words, flags.attach, io);
    const keyboard = io.openRawKeyboard();
    if (keyboard === undefined)
      throw new UsageError('Cannot read keyboard input.', 'Start the chat in a terminal.');
    return await new InteractiveChat({
      io,
      keyboard,
      screen,
      host,
      style: styleFor(screen, look?.theme),
      history: new PromptHistory(isFleeting === true ? undefined : historyFile(io.env)),
      ...defined({ sessionId, prompt, notify: look?.notify, vim: look?.vim }),
    }).run();
  } finally {
    await host.close();
    await close?.();
  }
}

async function prepareChat(
  flags: RunFlags,
  options: RawOptions,
  isTemporary: boolean,
  io: Io,
): Promise<PreparedChat & { close?: () => Promise<void> }> {
  if (options['demo'] === true) {
    const { demoConversations } = await import('../workplace/demo-conversations.ts');
    return { ...(await demoConversations(io)), isFleeting: true };
  }
  if (typeof options['connect'] !== 'string') return await localHost(flags, io);
  const { url, token } = serverAccess(options['connect'], options['token'], io.env);
  const host = new RemoteHost({ io, url, token, folder: workFolder(flags.dir, io), isTemporary });
  const id = flags.session?.id;
  const rows = await sessionsOf(host, url);
  const look = (await readSettings(io.env)).file.values;
  if (flags.session === undefined) return { host, look };
  const found = rows.filter(({ info }) => id === undefined || info.id === id || info.id.startsWith(id));
  const [first] = found;
  if (first === undefined || (id !== undefined && found.length > 1 && first.info.id !== id)) {
    throw new UsageError(
      first === undefined
        ? 'The server has no such session.'
        : `${found.length} sessions have an id with this prefix.`,
      'List the sessions: /sessions in the chat',
    );
  }
  return { host, look, sessionId: first.info.id };
}

/** Lists the sessions of the server. Before the chat starts, this also checks that it responds and accepts the token. */
async function sessionsOf(host: RemoteHost, url: string): ReturnType<RemoteHost['sessions']> {
  try {
    return await host.sessions();
  } catch (error) {
    const { kind, message } = AgentError.from(error);
    throw new UsageError(
      message,
      kind === 'auth'
        ? 'Pass a valid token: --token TOKEN'
        : `Check whether the server is running: ${url}/livez. To start a server: cobbler serve`,
    );
  }
}

async function localHost(given: RunFlags, io: Io): Promise<PreparedChat & { close: () => Promise<void> }> {
  const here = workFolder(given.dir, io);
  const first = await readSettings(io.env, given);
  const isKept = given.keeps ?? first.file.values.keepSessions ?? true;
  const chosen = await chooseSession(given, isKept, here, io);
  try {
    const flags = await withAgent(flagsWithNote(given, chosen?.note), io, chosen?.note);
    const { host, close: closeServers } = await hostWithServers(
      flags,
      first.file.values,
      chosen?.sessions,
      io,
    );
    const close = async () => {
      await closeServers();
      await chosen?.sessions.store.close();
    };
    const sessionId = chosen?.status === undefined ? {} : { sessionId: chosen.id };
    return { host, close, look: first.file.values, isFleeting: chosen === undefined, ...sessionId };
  } catch (error) {
    await chosen?.sessions.store.close();
    throw error;
  }
}

/** Opens the MCP servers. Messages about them go to standard error until the page exists. */
async function hostWithServers(
  flags: RunFlags,
  values: FileConfig,
  sessions: CliSessions | undefined,
  io: Io,
): Promise<{ host: LocalHost; close: () => Promise<void> }> {
  await recordChildren(io.env);
  let tell = (line: string): void => io.stderr.write(`cobbler: ${visible(line)}\n`);
  const mcp = await openMcp(flags, values, workFolder(flags.dir, io), (line) => tell(line), io);
  const budgets = new Budgets({ env: io.env, values, ...defined({ chosen: flags.budget }) });
  const audit = openAudit('chat', values, io, (line) => tell(line));
  const close = async () => {
    await audit.close();
    await budgets.close();
    await mcp.close();
  };
  try {
    const host = await localConversations(flags, sessions, { mcp, budgets, audit }, io);
    tell = (line) => host.tell(line);
    return { host, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Returns the address and token of a server: from the options, from `#token=` in the address, or from
 * COBBLER_SERVER_TOKEN.
 * @throws UsageError if the address is invalid or there is no token.
 */
export function serverAccess(
  given: string,
  token: unknown,
  env: Environment,
): { readonly url: string; readonly token: string } {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw UsageError.withCode(
      'server_url',
      `${JSON.stringify(given)} is not a server address.`,
      'For example: --connect http://127.0.0.1:4370',
    );
  }
  const behind = /(?:^#|&)token=([^&]+)/.exec(url.hash)?.[1];
  const found = (typeof token === 'string' ? token : undefined) ?? behind ?? env['COBBLER_SERVER_TOKEN'];
  if (found === undefined || found === '') {
    throw UsageError.withCode(
      'unauthorized',
      'The server requires a token.',
      'Copy the whole address that cobbler serve printed, including the #token= part, or pass --token TOKEN.',
    );
  }
  return { url: url.origin, token: found };
}

import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { acpServer } from '../acp/acp-agent.ts';
import { recordChildren } from '../backend.ts';
import { visible } from '../escape.ts';
import { workFolder } from '../folder.ts';
import type { Io } from '../io.ts';
import type { McpTools } from '../mcp-servers.ts';
import { openMcp } from '../mcp-servers.ts';
import { ownVersion } from '../own-version.ts';
import { readRunFlags } from '../run-flags.ts';
import { chooseSession } from '../session-choice.ts';
import { readSettings } from '../settings.ts';
import { UsageError } from '../usage-error.ts';
import { localConversations } from './local-conversations.ts';

/**
 * `cobbler acp`: serves an editor on standard input and output until it hangs up. Nothing but the protocol is written
 * to standard output. Returns the exit code.
 */
export async function acp(options: Readonly<Record<string, unknown>>, io: Io): Promise<number> {
  if (io.stdin.tty) {
    throw new UsageError(
      'Here speaks an editor, in the Agent Client Protocol; it starts this command by itself.',
      'How to set it up: docs/editors.md. To talk at a terminal: cobbler chat',
    );
  }
  const flags = readRunFlags(options);
  const { file } = await readSettings(io.env, flags);
  await recordChildren(io.env);
  const isKept = flags.keeps ?? file.values.keepSessions ?? true;
  const sessions = (await chooseSession(flags, isKept, workFolder(undefined, io), io))?.sessions;
  const report = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  const servers = new Map<string, Promise<McpTools>>();
  const mcpIn = (folder: string) => {
    const opened = servers.get(folder) ?? openMcp(flags, file.values, folder, report, io);
    servers.set(folder, opened);
    return opened;
  };
  const server = acpServer({
    version: ownVersion(),
    open: async (dir) =>
      localConversations({ ...flags, dir }, sessions, await mcpIn(workFolder(dir, io)), io),
    report,
    ...(sessions !== undefined && { sessions }),
  });
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const stream = ndJsonStream(Writable.toWeb(process.stdout), input);
  const connection = server.app.connect(stream);
  const stops = [io.onInterrupt(() => connection.close()), io.onBrokenPipe(() => connection.close())];
  await connection.closed;
  await server.close();
  await closeAll(servers.values());
  await sessions?.store.close();
  for (const stop of stops) stop();
  return 0;
}

async function closeAll(servers: Iterable<Promise<McpTools>>): Promise<void> {
  await Promise.all([...servers].map(async (opened) => (await opened).close()));
}

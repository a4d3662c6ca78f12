import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { defined } from '@cobbler/agent/values';
import { acpServer } from '../acp/acp-agent.ts';
import { recordChildren } from '../config/backend.ts';
import { workFolder } from '../config/directory.ts';
import type { McpTools } from '../config/mcp-servers.ts';
import { openMcp } from '../config/mcp-servers.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { readSettings } from '../config/settings.ts';
import { withAgent } from '../project/agent-folder.ts';
import { Budgets } from '../run/budgets/budgets.ts';
import { chooseSession } from '../run/session-choice.ts';
import { openAudit } from '../session/audit.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { ownVersion } from '../terminal/version.ts';
import { localConversations } from '../workplace/local-conversations.ts';

/** Runs `cobbler acp`: serves an editor until it disconnects. Standard output is only for the protocol. */
export async function acp(options: RawOptions, io: Io): Promise<number> {
  if (io.stdin.tty) {
    throw new UsageError(
      'This command speaks the Agent Client Protocol and is meant to be started by your editor.',
      'Setup: docs/editors.md. To chat in a terminal: cobbler chat',
    );
  }
  const flags = await withAgent(readRunFlags(options), io);
  const { file } = await readSettings(io.env, flags);
  await recordChildren(io.env);
  const isKept = flags.keeps ?? file.values.keepSessions ?? true;
  const sessions = (await chooseSession(flags, isKept, workFolder(undefined, io), io))?.sessions;
  const report = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  const servers = new Map<string, Promise<McpTools>>();
  const mcpIn = (folder: string) => {
    const opened = servers.get(folder) ?? openMcp(flags, file.values, folder, report, io);
    servers.set(folder, opened);
    // The next session tries again.
    opened.catch(() => servers.delete(folder));
    return opened;
  };
  const budgets = new Budgets({ env: io.env, values: file.values, ...defined({ chosen: flags.budget }) });
  const audit = openAudit('acp', file.values, io);
  const stops: (() => void)[] = [];
  try {
    const server = acpServer({
      version: ownVersion(),
      open: async (dir) => {
        const mcp = await mcpIn(workFolder(dir, io));
        return localConversations({ ...flags, dir }, sessions, { mcp, budgets, audit }, io);
      },
      report,
      ...defined({ sessions }),
    });
    const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
    const stream = ndJsonStream(Writable.toWeb(process.stdout), input);
    const connection = server.app.connect(stream);
    stops.push(
      io.onInterrupt(() => connection.close()),
      io.onBrokenPipe(() => connection.close()),
    );
    await connection.closed;
    await server.close();
  } finally {
    await audit.close();
    await budgets.close();
    await Promise.allSettled([...servers.values()].map(async (opened) => (await opened).close()));
    await sessions?.store.close();
    for (const stop of stops) stop();
  }
  return 0;
}

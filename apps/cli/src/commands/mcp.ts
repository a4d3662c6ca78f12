import { defined } from '@cobbler/agent/values';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { recordChildren } from '../config/backend.ts';
import { workFolder } from '../config/directory.ts';
import { openMcp } from '../config/mcp-servers.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { readSettings } from '../config/settings.ts';
import { mcpController } from '../mcp-server/mcp-controller.ts';
import { withAgent } from '../project/agent-folder.ts';
import { Budgets } from '../run/budgets/budgets.ts';
import { chooseSession } from '../run/session-choice.ts';
import { openAudit } from '../session/audit.ts';
import { isStored } from '../session/find-session.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { ownVersion } from '../terminal/version.ts';
import { localConversations } from '../workplace/local-conversations.ts';

/**
 * Runs `cobbler mcp`: serves a client of the Model Context Protocol on standard input and output until the client
 * disconnects. Only protocol messages are written to standard output. Returns the exit code.
 */
export async function mcp(options: RawOptions, io: Io): Promise<number> {
  if (io.stdin.tty) {
    throw new UsageError(
      'This command speaks the Model Context Protocol and is meant to be started by another program.',
      'Setup: docs/mcp.md. To chat in a terminal: cobbler chat',
    );
  }
  const flags = await withAgent(readRunFlags(options), io);
  const folder = workFolder(flags.dir, io);
  const { file } = await readSettings(io.env, flags);
  const isKept = flags.keeps ?? file.values.keepSessions ?? true;
  await recordChildren(io.env);
  const sessions = (await chooseSession(flags, isKept, folder, io))?.sessions;
  const report = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  const servers = await openMcp(flags, file.values, folder, report, io);
  const budgets = new Budgets({ env: io.env, values: file.values, ...defined({ chosen: flags.budget }) });
  const audit = openAudit('mcp', file.values, io);
  try {
    const host = await localConversations(flags, sessions, { mcp: servers, budgets, audit }, io);
    const controller = mcpController({
      version: ownVersion(),
      host,
      report,
      isKept: (id) => isStored(sessions, id),
    });
    await waitForHangUp(controller.server, io);
    await controller.close();
    await host.close();
  } finally {
    await audit.close();
    await budgets.close();
    await servers.close();
    await sessions?.store.close();
  }
  return 0;
}

async function waitForHangUp(
  server: ReturnType<typeof mcpController>['server'],
  io: Pick<Io, 'onInterrupt' | 'onBrokenPipe'>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  const hangUp = () => void server.close();
  process.stdin.once('end', hangUp);
  const stops = [io.onInterrupt(hangUp), io.onBrokenPipe(hangUp)];
  await server.connect(new StdioServerTransport());
  await closed;
  for (const stop of stops) stop();
}

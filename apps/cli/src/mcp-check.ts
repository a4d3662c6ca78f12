import { AgentError } from '@cobbler/agent';
import { recordChildren } from './backend.ts';
import type { Check } from './checkup.ts';
import { formatMs } from './figures.ts';
import type { Io } from './io.ts';
import { serverWords, troubleLines } from './mcp-servers.ts';
import type { Settings } from './settings.ts';

/** Connects to every MCP server of the configuration and asks for its tools. Never throws. */
export async function checkMcp({ file }: Pick<Settings, 'file'>, io: Io): Promise<Check[]> {
  const { mcp: servers = {} } = file.values;
  if (Object.keys(servers).length === 0) return [];
  const off = Object.entries(servers).filter(([, { disabled }]) => disabled === true);
  const checks: Check[] = off.map(([name]) => ({ name: `mcp ${name}`, ok: true, found: 'disabled' }));
  try {
    await recordChildren(io.env);
    const { connectMcp } = await import('@cobbler/tools/mcp');
    const mcp = await connectMcp({ servers, env: io.env, cwd: io.cwd() });
    checks.push(...mcp.servers.map(serverCheck));
    await mcp.close();
  } catch (error) {
    const found = AgentError.from(error).message;
    checks.push({ name: 'mcp', ok: false, found, repair: `correct it in ${file.path}` });
  }
  return checks;

  function serverCheck(report: Parameters<typeof troubleLines>[0]): Check {
    const { name, identity, tools, ms, problem } = report;
    if (problem !== undefined) {
      const server = servers[name];
      const repair = `try it: ${server === undefined ? name : serverWords(server)}; or set disabled: true in ${file.path}`;
      return { name: `mcp ${name}`, ok: false, found: problem, repair };
    }
    const [left] = troubleLines(report);
    const found = [identity, `${tools} tool${tools === 1 ? '' : 's'} in ${formatMs(ms)}`, left].filter(
      Boolean,
    );
    return { name: `mcp ${name}`, ok: true, found: found.join(', ') };
  }
}

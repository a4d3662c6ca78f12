import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RawOptions } from '../config/run-flags.ts';
import { homeToKeep } from '../session/session-home.ts';
import { ownCommand } from '../terminal/detach.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The system on which a service is installed; tests replace it. */
export interface ServiceHost {
  readonly platform: NodeJS.Platform;
  /** The home directory of the user. */
  readonly home: string;
  /** Runs a program. Returns false if it fails or does not exist. */
  run(argv: readonly string[]): boolean;
}

const thisHost = (): ServiceHost => ({
  platform: process.platform,
  home: homedir(),
  run: ([program = '', ...args]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0,
});

/** A service: its file, and the commands of the system that manage it. */
interface Service {
  readonly path: string;
  readonly text: string;
  readonly start: readonly (readonly string[])[];
  readonly stop: readonly string[];
  readonly status: readonly string[];
  readonly advice: string;
}

/** Runs `cobbler service`: installs or removes what starts with this machine. Returns the exit code. */
export async function service(
  [action, name = 'jobs', ...args]: readonly string[],
  options: RawOptions,
  io: Io,
  host: ServiceHost = thisHost(),
): Promise<number> {
  const known = ['install', 'uninstall', 'status'].includes(action ?? '');
  if (!known || !['jobs', 'serve', 'assistant'].includes(name))
    throw new UsageError(
      'Name an action (install, uninstall or status), and at most one service: jobs, serve or assistant.',
      'See: cobbler help service',
    );
  const { path, text, start, stop, status, advice } = serviceOf(name, args, io, host);
  const say = (line: string) => io.stderr.write(`${visible(line)}\n`);
  if (action === 'status') {
    const runs = existsSync(path) && host.run(status);
    const state = runs ? 'running' : existsSync(path) ? 'installed, not running' : 'not installed';
    io.stdout.write(`${name}: ${state}\n`);
    return runs ? 0 : 1;
  }
  if (action === 'uninstall') {
    host.run(stop);
    rmSync(path, { force: true });
    say(`Removed: ${path}`);
    return 0;
  }
  if (options['print'] === true) {
    io.stdout.write(text);
    return 0;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o600 });
  say(`Written: ${path}`);
  const failed = start.find((argv) => !host.run(argv));
  if (failed === undefined) say(`${advice} Keys come from the configuration: cobbler config set-key`);
  else {
    const words = name === 'jobs' ? ['resume', '--all'] : [name, ...args];
    say(
      `This failed: ${failed.join(' ')}. Run it yourself, or run at each start: cobbler ${words.join(' ')}`,
    );
  }
  return failed === undefined ? 0 : 1;
}

/** @throws UsageError if the system has neither systemd nor launchd. */
function serviceOf(name: string, args: readonly string[], io: Io, host: ServiceHost): Service {
  const home = homeToKeep(io.env);
  if (home === undefined) throw UsageError.noHome('Jobs');
  // A service has none of the other variables of this terminal.
  const env = { PATH: io.env['PATH'] ?? '', COBBLER_HOME: home };
  const argv = [...ownCommand(), ...(name === 'jobs' ? ['resume', '--all'] : [name, ...args])];
  if (host.platform === 'darwin') {
    const label = `dev.cobbler.${name}`;
    const path = join(host.home, 'Library', 'LaunchAgents', `${label}.plist`);
    return {
      ...{ path, text: launchdList(label, name, argv, env), start: [['launchctl', 'load', '-w', path]] },
      ...{ stop: ['launchctl', 'unload', '-w', path], status: ['launchctl', 'list', label] },
      advice: 'It starts when you log in.',
    };
  }
  if (host.platform !== 'linux')
    throw new UsageError(
      `Services cannot be installed on ${host.platform}.`,
      'Run this at each start, for example with the scheduler of the system: cobbler resume --all',
    );
  const unit = `cobbler-${name}.service`;
  const systemctl = (...words: readonly string[]) => ['systemctl', '--user', ...words];
  const folder = io.env['XDG_CONFIG_HOME'] || join(host.home, '.config');
  return {
    ...{ path: join(folder, 'systemd', 'user', unit), text: systemdUnit(name, argv, env) },
    start: [systemctl('daemon-reload'), systemctl('enable', '--now', unit)],
    ...{ stop: systemctl('disable', '--now', unit), status: systemctl('is-active', unit) },
    advice: 'It starts when you log in. To start it with the machine: loginctl enable-linger.',
  };
}

type Variables = Readonly<Record<string, string>>;

/** The unit for jobs ends at once, and what it started belongs to it until it is stopped. */
function systemdUnit(name: string, argv: readonly string[], env: Variables): string {
  const quote = (word: string) =>
    `"${word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('\n', '\\n')}"`;
  const variables = Object.entries(env).map(([key, value]) => `Environment=${quote(`${key}=${value}`)}\n`);
  // The address of a server contains its token, and others may read the journal.
  const other = 'Restart=on-failure\nRestartSec=5\nStandardOutput=null';
  return `[Unit]
Description=Cobbler: ${name}

[Service]
${name === 'jobs' ? 'Type=oneshot\nRemainAfterExit=yes' : other}
${variables.join('')}ExecStart=${argv.map((word) => quote(word).replaceAll('$', '$$$$')).join(' ')}

[Install]
WantedBy=default.target
`;
}

/** The jobs outlive the command that starts them. */
function launchdList(label: string, name: string, argv: readonly string[], env: Variables): string {
  const names: Variables = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
  const string = (text: string) => `<string>${text.replace(/[&<>]/g, (one) => names[one] ?? '')}</string>`;
  const variables = Object.entries(env).map(([key, value]) => `<key>${key}</key>${string(value)}`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Label</key>${string(label)}
<key>ProgramArguments</key><array>${argv.map(string).join('')}</array>
<key>EnvironmentVariables</key><dict>${variables.join('')}</dict>
<key>RunAtLoad</key><true/><key>${name === 'jobs' ? 'AbandonProcessGroup' : 'KeepAlive'}</key><true/>
</dict></plist>
`;
}

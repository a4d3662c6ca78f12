import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { RawOptions } from '../config/run-flags.ts';
import { homeToKeep } from '../session/session-home.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { ownCommand } from '../terminal/process-io.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { ServicePlan } from './service-file.ts';
import { labelOf, launchdList, systemdUnit } from './service-file.ts';

/** The system on which a service is installed; tests replace it. */
export interface ServiceHost {
  readonly platform: NodeJS.Platform;
  /** The home directory of the user. */
  readonly home: string;
  readonly uid: number;
  /** The command that starts this program. */
  readonly command: readonly string[];
  read(path: string): string | undefined;
  /** Creates missing directories. Only the owner can read the file. */
  write(path: string, text: string): void;
  remove(path: string): void;
  /** Runs a program. Returns false if it fails or does not exist. */
  run(program: string, ...args: readonly string[]): boolean;
}

const thisHost: ServiceHost = {
  platform: process.platform,
  home: homedir(),
  uid: userInfo().uid,
  command: ownCommand(),
  read(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  },
  write(path, text) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
  },
  remove: (path) => rmSync(path, { force: true }),
  run: (program, ...args) => spawnSync(program, args, { stdio: 'ignore' }).status === 0,
};

const names = ['jobs', 'serve', 'assistant'];

/** Runs `cobbler service`: installs or removes what starts with this machine. Returns the exit code. */
export async function service(
  [action = '', name = 'jobs', ...args]: readonly string[],
  options: RawOptions,
  io: Io,
  host: ServiceHost = thisHost,
): Promise<number> {
  if (!names.includes(name))
    throw new UsageError(`There is no service ${JSON.stringify(name)}.`, `Use one of: ${names.join(', ')}.`);
  const manager = managerOf(host, name);
  const say = (line: string) => io.stderr.write(`${line}\n`);
  switch (action) {
    case 'install': {
      const text = manager.file(planOf(name, args, io, host));
      if (options['print'] === true) {
        io.stdout.write(text);
        return 0;
      }
      host.write(manager.path, text);
      say(`Written: ${visible(manager.path)}`);
      if (!manager.start()) {
        say(`The service could not be started. Try it: ${manager.startCommand}`);
        return 1;
      }
      for (const line of manager.advice) say(line);
      return 0;
    }
    case 'uninstall':
      manager.stop();
      host.remove(manager.path);
      say(`Removed: ${visible(manager.path)}`);
      return 0;
    case 'status': {
      const isInstalled = host.read(manager.path) !== undefined;
      const runs = isInstalled && manager.isRunning();
      io.stdout.write(`${name}: ${isInstalled ? (runs ? 'running' : 'installed, not running') : 'not installed'}\n`);
      return runs ? 0 : 1;
    }
    default:
      throw new UsageError(
        `service has no action ${JSON.stringify(action)}.${didYouMean(action, ['install', 'uninstall', 'status'])}`,
        'See: cobbler help service',
      );
  }
}

/** Keys come from the configuration: a service has none of the variables of this terminal, except these. */
function planOf(name: string, args: readonly string[], io: Io, { command }: ServiceHost): ServicePlan {
  const home = homeToKeep(io.env);
  if (home === undefined) throw UsageError.noHome('Jobs');
  const { PATH = '' } = io.env;
  const own = name === 'jobs' ? ['resume', '--all'] : [name, ...args];
  return { name, argv: [...command, ...own], env: { PATH, COBBLER_HOME: home } };
}

/** The program that starts services. */
interface Manager {
  readonly path: string;
  readonly file: (plan: ServicePlan) => string;
  readonly startCommand: string;
  /** What the user may have to do besides. */
  readonly advice: readonly string[];
  start(): boolean;
  stop(): void;
  isRunning(): boolean;
}

/** @throws UsageError if the system has neither systemd nor launchd. */
function managerOf({ platform, home, uid, run }: ServiceHost, name: string): Manager {
  if (platform === 'darwin') {
    const path = join(home, 'Library', 'LaunchAgents', `${labelOf(name)}.plist`);
    const target = `gui/${uid}/${labelOf(name)}`;
    return {
      path,
      file: launchdList,
      startCommand: `launchctl bootstrap gui/${uid} ${path}`,
      advice: ['It starts when you log in.'],
      start() {
        run('launchctl', 'bootout', target);
        return run('launchctl', 'bootstrap', `gui/${uid}`, path);
      },
      stop: () => void run('launchctl', 'bootout', target),
      isRunning: () => run('launchctl', 'print', target),
    };
  }
  if (platform !== 'linux')
    throw new UsageError(
      `Services cannot be installed on ${platform}.`,
      'Run `cobbler resume --all` at each start, for example with the task scheduler of the system.',
    );
  const unit = `cobbler-${name}.service`;
  const systemctl = (...args: readonly string[]) => run('systemctl', '--user', ...args);
  return {
    path: join(home, '.config', 'systemd', 'user', unit),
    file: systemdUnit,
    startCommand: `systemctl --user enable --now ${unit}. Without systemd, run this at each start: cobbler ${name === 'jobs' ? 'resume --all' : name}`,
    advice: ['It starts when you log in. To start it with the machine: loginctl enable-linger'],
    start: () => systemctl('daemon-reload') && systemctl('enable', '--now', unit),
    stop: () => void systemctl('disable', '--now', unit),
    isRunning: () => systemctl('is-active', unit),
  };
}

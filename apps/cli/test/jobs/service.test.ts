import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { service } from '../../src/jobs/service.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A machine on which the given programs fail. */
function machine(platform: NodeJS.Platform, fails: (argv: readonly string[]) => boolean = () => false) {
  const home = temporaryFolder();
  const ran: string[] = [];
  const io = fakeIo({ env: { HOME: home, COBBLER_HOME: join(home, '50% "x"'), PATH: '/bin' } });
  const host = {
    ...{ platform, home },
    run(argv: readonly string[]) {
      ran.push(argv.join(' '));
      return !fails(argv);
    },
  };
  const at = (words: readonly string[], options = {}) => service(words, options, io, host);
  return { home, io, ran, at };
}

describe('cobbler service', () => {
  test('installs a unit of systemd that continues the jobs, and removes it', async () => {
    const { at, home, io, ran } = machine('linux');
    const path = join(home, '.config/systemd/user/cobbler-jobs.service');
    expect(await at(['status'])).toBe(1);
    expect(await at(['install'])).toBe(0);
    const unit = readFileSync(path, 'utf8');
    expect(unit).toMatch(/^Type=oneshot\nRemainAfterExit=yes$/m);
    expect(unit).toMatch(/^ExecStart="[^"]+".* "resume" "--all"$/m);
    expect(unit).toContain(`Environment="COBBLER_HOME=${home}/50%% \\"x\\""\n`);
    expect(unit).not.toContain('KEY');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(io.stderr.text()).toContain('loginctl enable-linger');
    expect(await at(['status'])).toBe(0);
    expect(await at(['uninstall'])).toBe(0);
    expect(existsSync(path)).toBe(false);
    expect(ran).toEqual([
      'systemctl --user daemon-reload',
      'systemctl --user enable --now cobbler-jobs.service',
      'systemctl --user is-active cobbler-jobs.service',
      'systemctl --user disable --now cobbler-jobs.service',
    ]);
  });

  test('prints the file of a server, with its arguments quoted, and writes nothing', async () => {
    const { at, home, io, ran } = machine('linux');
    expect(await at(['install', 'serve', '-C', '/a $b/50%'], { print: true })).toBe(0);
    expect(io.stdout.text()).toMatch(/ "serve" "-C" "\/a \$\$b\/50%%"$/m);
    // The address that a server prints contains its token.
    expect(io.stdout.text()).toContain('StandardOutput=null');
    expect([existsSync(join(home, '.config')), ran]).toEqual([false, []]);
  });

  test('says what to do if there is no systemd, and on another system', async () => {
    const { at, io } = machine('linux', ([program]) => program === 'systemctl');
    expect(await at(['install'])).toBe(1);
    expect(io.stderr.text()).toContain('run at each start: cobbler resume --all');
    await expect(machine('win32').at(['install'])).rejects.toThrow(/cannot be installed on win32/);
    await expect(machine('linux').at(['instal'])).rejects.toThrow(/Name an action/);
    await expect(machine('linux').at(['install', 'cron'])).rejects.toThrow(/at most one service/);
  });

  test('installs a property list of launchd', async () => {
    const { at, home, ran } = machine('darwin');
    expect(await at(['install', 'assistant', '--persona', 'a&b<c'])).toBe(0);
    const path = join(home, 'Library/LaunchAgents/dev.cobbler.assistant.plist');
    const text = readFileSync(path, 'utf8');
    expect(text).toContain('<string>--persona</string><string>a&amp;b&lt;c</string>');
    expect(text).toContain('<key>KeepAlive</key><true/>');
    expect(ran).toEqual([`launchctl load -w ${path}`]);
  });
});

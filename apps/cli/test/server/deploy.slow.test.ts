import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { defaultPort } from '../../src/command-line/command-table.ts';
import { botStage, botToken } from '../assistant/assistant-stage.ts';
import { bareEnvironment, command, ended } from '../support/binary.ts';
import { mockService, says, testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8');

/** Returns the values of a setting in a unit, in order. */
function settings(unit: string, name: string): string[] {
  return [...read(unit).matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

interface Stage {
  readonly from: string;
  readonly instructions: readonly { readonly word: string; readonly rest: string }[];
}

describe('the container file', () => {
  test('copies only existing files into the image, and runs it as an unprivileged user', async () => {
    const parser = new URL('../../../../deploy/containerfile.mjs', import.meta.url).href;
    const { stagesOf } = (await import(parser)) as { stagesOf(text: string): Stage[] };
    const stages = stagesOf(read('Containerfile'));
    expect(stages.map(({ from }) => /^node:\d+-[a-z]+-slim$/.test(from))).toEqual([true, true]);
    const last = stages.at(-1)?.instructions ?? [];
    const all = (word: string) => last.filter((one) => one.word === word).map(({ rest }) => rest);
    for (const copied of all('COPY')) {
      const [, source = ''] = /^--from=build \/src\/(\S+) /.exec(copied) ?? [];
      expect([copied, source === 'apps/cli/dist' || existsSync(join(root, source))]).toEqual([copied, true]);
    }
    expect(all('USER')).toEqual(['1000:1000']);
    expect(all('HEALTHCHECK').join()).toContain(`http://127.0.0.1:${defaultPort}/livez`);
    expect(all('EXPOSE')).toEqual([String(defaultPort)]);
    expect(JSON.parse(all('ENTRYPOINT').join())).toEqual(['/opt/cobbler/start', 'cobbler']);
    expect(statSync(join(root, 'deploy/start')).mode & 0o111).toBe(0o111);
  });
});

describe('the systemd units', { timeout: 120_000 }, () => {
  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

  test.skipIf(!hasSystemd)('pass systemd-analyze verify (needs systemd-analyze)', () => {
    const image = temporaryFolder();
    const units = join(image, 'etc/systemd/system');
    mkdirSync(units, { recursive: true });
    mkdirSync(join(image, 'opt/cobbler'), { recursive: true });
    cpSync(join(root, 'deploy/start'), join(image, 'opt/cobbler/start'));
    for (const unit of ['cobbler.service', 'cobbler-assistant.service']) {
      const text = read(unit).replaceAll('/opt/cobbler/start', join(image, 'opt/cobbler/start'));
      writeFileSync(join(units, unit), text);
    }
    const files = ['cobbler.service', 'cobbler-assistant.service'].map((unit) => join(units, unit));
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });

  test('start a server with its key from a credential, log no secrets and finish the runs', async () => {
    const service = await mockService([says('Hello.')]);
    const [state, run, credentials] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    const unit = 'cobbler.service';
    for (const loaded of settings(unit, 'LoadCredential')) {
      const [name = ''] = loaded.split(':');
      writeFileSync(join(credentials, name), `${testKey}\n`);
    }
    writeFileSync(join(credentials, 'not-a-variable'), 'x');
    const placed = (text: string) => text.replaceAll('%S', state).replaceAll('%t', run);
    const env = Object.fromEntries(settings(unit, 'Environment').map((one) => placed(one).split('=')));
    for (const folder of settings(unit, 'StateDirectory').join(' ').split(' '))
      mkdirSync(join(state, folder), { mode: 0o700 });
    const [start = '', program = '', ...args] = (settings(unit, 'ExecStart')[0] ?? '').split(' ');
    expect([start, program]).toEqual(['/opt/cobbler/start', '/usr/local/bin/cobbler']);
    const child = spawn(join(root, 'deploy/start'), [...command, ...args, '--port', '0'], {
      cwd: placed(settings(unit, 'WorkingDirectory')[0] ?? ''),
      env: {
        ...bareEnvironment(env),
        CREDENTIALS_DIRECTORY: credentials,
        ANTHROPIC_BASE_URL: service.url,
        COBBLER_MODEL: 'claude:claude-test',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const end = ended(child);
    const file = env['COBBLER_ADDRESS_FILE'] ?? '';
    const address = () => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '');
    await expect.poll(address, { timeout: 60_000 }).toContain('#token=');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [url = '', token = ''] = address().split('/#token=');
    const ask = async (method: string, path: string, body?: unknown) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      return (await (await fetch(url + path, init)).json()) as Record<string, unknown>;
    };
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'Hi.' });
    // The signal goes to the process that systemd started, which is the server itself.
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await end;
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).not.toContain(token);
    expect(stderr).not.toContain(testKey);
    expect(stderr).toContain('"status":"complete"');
    expect(existsSync(join(env['COBBLER_HOME'] ?? '', 'sessions.db'))).toBe(true);
  });
});

describe('the unit of the assistant', { timeout: 120_000 }, () => {
  test('starts a bot with both secrets from credentials, and the bot exits with 0', async () => {
    const stage = await botStage(await mockService([]));
    const [state, credentials] = [temporaryFolder(), temporaryFolder()];
    const secrets: Record<string, string> = { TELEGRAM_BOT_TOKEN: botToken, ANTHROPIC_API_KEY: testKey };
    const loaded = settings('cobbler-assistant.service', 'LoadCredential').map(
      (one) => one.split(':')[0] ?? '',
    );
    for (const name of loaded) writeFileSync(join(credentials, name), secrets[name] ?? '');
    const [, , ...args] = (settings('cobbler-assistant.service', 'ExecStart')[0] ?? '').split(' ');
    const env = settings('cobbler-assistant.service', 'Environment').map((one) =>
      one.replace('%S', state).split('='),
    );
    const child = spawn(join(root, 'deploy/start'), [...command, ...args, '--api-root', stage.apiRoot], {
      cwd: state,
      env: {
        ...bareEnvironment(Object.fromEntries(env)),
        CREDENTIALS_DIRECTORY: credentials,
        TELEGRAM_ALLOWED_USERS: '7',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    const end = ended(child, {
      onOutput: (text) => {
        said += text;
      },
    });
    await expect.poll(() => said, { timeout: 60_000 }).toContain('"ready"');
    child.kill('SIGTERM');
    const { code } = await end;
    expect([code, said.includes(botToken), said.includes(testKey)]).toEqual([0, false, false]);
    expect(existsSync(join(state, 'cobbler/assistant/chats.db'))).toBe(true);
  });
});

describe('deploy/start', () => {
  test('sets variables from files with valid names, and keeps variables that are already set', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'A_KEY'), `it's "here" $HOME\n`);
    writeFileSync(join(folder, 'B_KEY'), 'from the file');
    writeFileSync(join(folder, 'x;touch bad'), 'never');
    const env = { ...bareEnvironment(), CREDENTIALS_DIRECTORY: folder, B_KEY: 'given' };
    const said = execFileSync(join(root, 'deploy/start'), ['sh', '-c', 'echo "$A_KEY|$B_KEY"'], {
      env,
      cwd: folder,
      encoding: 'utf8',
    });
    expect(said).toBe(`it's "here" $HOME|given\n`);
    expect(existsSync(join(folder, 'bad'))).toBe(false);
  });
});

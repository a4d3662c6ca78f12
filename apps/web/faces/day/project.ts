import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';

const parts = ['orders', 'prices', 'stock', 'users', 'mail', 'taxes', 'dates', 'search', 'carts', 'reports'];

/** Returns a project of about 300 files: a shop in JavaScript with ten parts, one of which has a fault. */
function filesOf(): Map<string, string> {
  const files = new Map<string, string>();
  for (const part of parts) {
    for (let at = 1; at <= 14; at += 1) {
      const name = `${part}${at}`;
      const sign = name === 'prices3' ? '-' : '+';
      files.set(
        `src/${part}/${name}.js`,
        `// Part of ${part}.\nexport function ${name}(list) {\n  return list.reduce((sum, one) => sum ${sign} one, 0);\n}\n`,
      );
      files.set(
        `test/${part}/${name}.test.js`,
        `import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { ${name} } from '../../src/${part}/${name}.js';\n\ntest('${name} adds', () => assert.equal(${name}([1, 2, 3]), 6));\n`,
      );
    }
    files.set(`docs/${part}.md`, `# ${part}\n\nAll functions of ${part} add the numbers of a list.\n`);
  }
  files.set('package.json', '{ "name": "shop", "private": true, "type": "module" }\n');
  files.set('README.md', '# Shop\n\nRun the tests of a part with `node --test test/prices/`.\n');
  files.set('AGENTS.md', '# Rules\n\nEvery function needs a test. Never change the tests.\n');
  files.set(
    'server.js',
    "import { createServer } from 'node:http';\n\nconst server = createServer((_, response) => response.end('shop'));\n" +
      "server.listen(0, '127.0.0.1', () => console.log(`ready on port ${server.address().port}`));\n",
  );
  files.set(
    '.claude/skills/release-notes/SKILL.md',
    '---\nname: release-notes\ndescription: Writes release notes. Use it when a version is released.\n---\nWrite one line per change, the most important first.\n',
  );
  files.set(
    '.claude/commands/explain.md',
    '---\ndescription: Explains a file\n---\n23. Explain $1 in one sentence.\n',
  );
  files.set(
    '.claude/agents/reviewer.md',
    '---\nname: reviewer\ndescription: Reviews a change\ntools: Read\n---\nYou review changes.\n',
  );
  return files;
}

/** Writes the project, with its first commit. */
export function writeProject(folder: string): void {
  for (const [path, content] of filesOf()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  writeFileSync(join(folder, 'screen.png'), picture());
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' });
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=shop', '-c', 'user.email=shop@example.org', 'commit', '-qm', 'First version');
}

/** A PNG of 32 x 32 pixels in one color. */
function picture(): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.from([0, 0, 0, 32, 0, 0, 0, 32, 8, 2, 0, 0, 0]);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(96, 0x80)]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: 32 }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function crc(bytes: Buffer): number {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

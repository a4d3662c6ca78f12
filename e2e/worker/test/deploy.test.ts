import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '@cobbler/assistant';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deployed, wrangler } from '../src/deployed.ts';

describe('a deployment with wrangler', () => {
  it('has Workers AI and Vectorize only in production, but D1 and the Workflow everywhere [S3.12]', async () => {
    const production = await deployed('production');
    for (const binding of ['env.AI ', 'env.VECTORIZE', 'env.DB', 'env.TURNS', 'env.WEBHOOK_URL'])
      expect(production.said).toContain(binding);
    const here = await deployed('');
    expect(here.said).not.toMatch(/env\.(?:AI|VECTORIZE) /);
    for (const binding of ['env.DB', 'env.TURNS']) expect(here.said).toContain(binding);
    for (const { said } of [production, here]) expect(said).not.toMatch(/warning/i);
  });

  it('fits into the free plan when compressed, and imports no Node module', async () => {
    const { said, script } = await deployed('production');
    const [, size = 'unknown'] = /gzip: ([\d.]+) KiB/.exec(said) ?? [];
    expect(Number(size)).toBeLessThan(1024);
    expect(script).not.toMatch(/from\s*"node:/);
  });

  it('applies each migration to D1 once [S3.10]', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cobbler-migrations-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const apply = () => wrangler('d1', 'migrations', 'apply', 'DB', '--local', '--persist-to', folder);
    const first = await apply();
    for (const { name } of migrations) expect(first).toContain(`${name}.sql`);
    expect(await apply()).toContain('No migrations to apply');
  });
});

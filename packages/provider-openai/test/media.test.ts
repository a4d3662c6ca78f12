import { userMessage } from '@cobbler/agent';
import { hasMediaType } from '@cobbler/agent/provider';
import { describe, expect, test } from 'vitest';
import { createOpenAI } from '../src/index.ts';
import { refusedFile } from '../src/media.ts';

const png = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;

describe('file checks [P12]', () => {
  test.each(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf', 'text/csv'])(
    'accept files of type %s',
    (mediaType) => {
      const { files } = createOpenAI({ apiKey: 'sk-test', env: {} }).capabilities;
      expect(hasMediaType(files, mediaType)).toBe(true);
      expect(refusedFile({ ...png, mediaType })).toBeUndefined();
    },
  );

  test('reject a file that leaves no room in a request', () => {
    expect(refusedFile({ ...png, data: 'A'.repeat(45_000_001) })).toMatch(/files over 45 MB/);
  });

  test.each([
    ['gpt-audio', 'chat', true],
    ['gpt-4o-audio-preview', 'chat', true],
    ['gpt-audio', 'responses', false],
    ['gpt-6-sol', 'chat', false],
  ] as const)('%s over %s accepts audio: %s', (model, api, accepts) => {
    const { files } = createOpenAI({ apiKey: 'sk-test', env: {}, model, api }).capabilities;
    expect(['audio/wav', 'audio/mpeg'].map((type) => hasMediaType(files, type))).toEqual([accepts, accepts]);
  });

  test('are left to a compatible server', () => {
    const agent = createOpenAI({ apiKey: 'k', env: {}, baseURL: 'http://127.0.0.1:1/v1', model: 'm' });
    expect(agent.capabilities.files).toEqual(['*/*']);
  });

  test.each(['responses', 'chat'] as const)(
    'reject an unsupported image type over %s at OpenAI itself',
    async (api) => {
      const agent = createOpenAI({ apiKey: 'sk-test', env: {}, api });
      const messages = [userMessage([{ ...png, mediaType: 'image/bmp' }])];
      await expect(agent.run({ messages, tools: [] })).rejects.toMatchObject({
        kind: 'invalid',
        code: 'unsupported',
      });
    },
  );
});

import { userMessage } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import { createOpenAI } from '../src/index.ts';
import { refusedMedia } from '../src/media.ts';

const png = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;

describe('what OpenAI would refuse with every request to come [P12]', () => {
  test.each(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])(
    'is no picture of type %s',
    (mediaType) => {
      expect(refusedMedia({ ...png, mediaType })).toBeUndefined();
    },
  );

  test('is a picture of another type, or one that leaves no room in a request', () => {
    expect(refusedMedia({ ...png, mediaType: 'image/bmp' })).toMatch(/images of type image\/bmp/);
    expect(refusedMedia({ ...png, data: 'A'.repeat(45_000_001) })).toMatch(/images over 45 MB/);
    const document = {
      type: 'document',
      mediaType: 'application/pdf',
      data: 'A'.repeat(45_000_001),
    } as const;
    expect(refusedMedia(document)).toMatch(/documents over 45 MB/);
  });

  test.each(['responses', 'chat'] as const)(
    'is refused as it is said by %s at OpenAI itself',
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

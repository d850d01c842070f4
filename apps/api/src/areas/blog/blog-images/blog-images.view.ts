import { type Shape } from '../../../http/kit.js';

export const blogImageShape: Shape = {
  name: 'BlogImage',
  schema: {
    type: 'object',
    properties: {
      url: {
        type: 'string',
        format: 'uri',
        description: 'The public URL of the image.',
        examples: ['https://api.example.org/media/org/0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30/0190a6f2-library.jpg'],
      },
      path: { type: 'string', examples: ['org/0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30/0190a6f2-library.jpg'] },
      size_bytes: { type: 'integer', description: 'Size of the stored file.', minimum: 1, examples: [183204] },
    },
    required: ['url', 'path', 'size_bytes'],
    additionalProperties: false,
  },
};

import supertest from 'supertest';
import type { TestApi } from '../http/api.js';
import type { Factories } from './factories.js';

/** A post in an answer. */
export interface Post {
  id: string;
  target: string;
  brand: string;
  organization_id: string | null;
  title: string;
  slug: string;
  status: string;
  tags: string[];
  content: string | null;
  featured_image: string | null;
  published_at: string | null;
  scheduled_at: string | null;
  created_at: string;
  updated_at: string;
}

/** An organization that writes blog posts. */
export class Blog {
  private constructor(
    readonly api: TestApi,
    readonly make: Factories,
    readonly school: string,
    /** A key with `read` and `blog:write`. */
    readonly key: string,
    /** As `key`, with the platform-blog capability. */
    readonly platformKey: string,
  ) {}

  static async open(api: TestApi): Promise<Blog> {
    const { id } = await api.make.organization();
    const scopes = ['read', 'blog:write'] as const;
    const key = await api.key(id, { scopes: [...scopes] });
    return new Blog(api, api.make, id, key, await api.key(id, { scopes: [...scopes], platformBlog: true }));
  }

  send(method: 'post' | 'patch' | 'delete', path: string, body?: object | string, key = this.key): supertest.Test {
    const request = supertest(this.api.server)[method](path).set('Authorization', `Token token=${key}`);
    return body === undefined ? request : request.type('application/json').send(body);
  }

  create(body: object | string, key = this.key): supertest.Test {
    return this.send('post', '/v1/blog-posts', body, key);
  }

  change(id: string, body: object | string, key = this.key): supertest.Test {
    return this.send('patch', `/v1/blog-posts/${id}`, body, key);
  }

  remove(id: string, key = this.key): supertest.Test {
    return this.send('delete', `/v1/blog-posts/${id}`, undefined, key);
  }

  get(id: string, key = this.key): supertest.Test {
    return this.api.get(`/v1/blog-posts/${id}`, key);
  }

  /** Removes the queued rebuild requests and returns them: later changes would otherwise merge into them. */
  async rebuilds(): Promise<string[]> {
    const rows = await this.make.query<{ recipient: string }>(
      `WITH gone AS (DELETE FROM outbox WHERE topic = 'rebuild' RETURNING recipient) SELECT recipient FROM gone`,
    );
    return rows.map(({ recipient }) => recipient);
  }
}

import { emits } from './emits.js';
import { MINE_OR_THE_PLATFORMS, rule, secure } from './rules.js';

/** Posts, and whom to tell of a change. */
export const blog = /* sql */ `
  -- organization_id null: a post of the platform's own marketing sites, seen only with the platform-blog capability.
  CREATE TABLE blog_posts (
    id uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations,
    brand text NOT NULL CHECK (brand ~ '^[a-z0-9][a-z0-9_-]{0,49}$'),
    title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 300),
    slug text NOT NULL CHECK (slug ~ '^[a-z0-9]+(?:-[a-z0-9]+)*$' AND char_length(slug) <= 200),
    status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published')),
    excerpt text CHECK (char_length(excerpt) <= 2000),
    content text CHECK (char_length(content) <= 200000),
    author text CHECK (char_length(author) <= 200),
    tags text[] NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 50),
    featured_image text CHECK (char_length(featured_image) <= 2000),
    category text CHECK (char_length(category) <= 200),
    date date,
    publish_to_website boolean NOT NULL DEFAULT true,
    publish_to_portal boolean NOT NULL DEFAULT false,
    is_pinned boolean NOT NULL DEFAULT false,
    published_at timestamptz(3),
    scheduled_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  );
  ${rule('blog_posts', 'schedule', `status = 'draft' OR scheduled_at IS NULL`, 'scheduled_at', 'must be null unless status is draft')}
  CREATE UNIQUE INDEX blog_posts_organization_slug ON blog_posts (organization_id, slug)
    WHERE organization_id IS NOT NULL;
  CREATE UNIQUE INDEX blog_posts_platform_slug ON blog_posts (brand, slug) WHERE organization_id IS NULL;
  CREATE INDEX blog_posts_order ON blog_posts (organization_id, is_pinned, created_at, id) INCLUDE (brand, status);
  CREATE INDEX blog_posts_scheduled ON blog_posts (scheduled_at) WHERE scheduled_at IS NOT NULL;
  ${emits('blog_posts', {
    ...{ resource: 'blog_post', noun: 'a blog post', list: '/v1/blog-posts' },
    verbs: {
      published: {
        says: 'A blog post was published.',
        inserted: `n.status = 'published'`,
        updated: `o.status <> 'published' AND n.status = 'published'`,
      },
      unpublished: {
        says: 'A published blog post is a draft again.',
        updated: `o.status = 'published' AND n.status <> 'published'`,
      },
      scheduled: {
        says: 'A blog post is to be published at a time.',
        inserted: 'n.scheduled_at IS NOT NULL',
        updated: 'n.scheduled_at IS NOT NULL AND o.scheduled_at IS DISTINCT FROM n.scheduled_at',
      },
    },
  })}
  ${secure('blog_posts', MINE_OR_THE_PLATFORMS)}

  -- Whom to tell that a site has to be built anew: of an organization, or of a brand of the platform. trusted: set by the
  -- operator, and may point into the operator's own network. Two secrets sign while one is replaced.
  CREATE TABLE rebuild_hooks (
    target text PRIMARY KEY,
    organization_id uuid REFERENCES organizations,
    url text NOT NULL CONSTRAINT rebuild_hooks_no_credentials CHECK (url !~ '^[a-z]+://[^/?#]*@'),
    secret bytea NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    trusted boolean NOT NULL DEFAULT false,
    previous_secret bytea,
    previous_until timestamptz(3),
    CHECK (CASE WHEN organization_id IS NULL THEN target ~ '^brand:.' ELSE target = 'organization:' || organization_id END),
    CHECK ((previous_secret IS NULL) = (previous_until IS NULL))
  );
  ${secure('rebuild_hooks', MINE_OR_THE_PLATFORMS)}
`;

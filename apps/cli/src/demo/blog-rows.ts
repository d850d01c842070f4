import { DAY } from './clock.js';
import type { Rows, TableRows } from './rows.js';
import { iso, type School } from './school.js';
import { TEXTS } from './texts.js';

/** Draft, published, pinned and scheduled posts for both configured brands. */
function* blogPosts(school: School): Rows {
  for (const [index, { title, excerpt, category, tags, paragraphs }] of TEXTS.posts.entries()) {
    const createdAt = school.now - (index * 17 + 2) * DAY;
    const scheduled = index === 1 || index === 6;
    const published = !scheduled && index % 4 !== 3;
    const author = school.teachers[index % school.teachers.length]!;
    yield {
      id: school.id('post', index),
      brand: school.profile.brands[index % 3 === 2 ? 1 : 0],
      title,
      slug: title
        .toLowerCase()
        .replace(/’/g, '')
        .replace(/[^a-z0-9]+/g, '-'),
      status: published ? 'published' : 'draft',
      excerpt,
      content: paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('\n'),
      author: `${author.firstName} ${author.lastName}`,
      tags,
      featured_image: index % 2 === 0 ? `https://images.example.com/blog/${index}.jpg` : null,
      category,
      date: school.clock.date(-(index * 17 + 2)),
      publish_to_website: index % 6 !== 5,
      publish_to_portal: index % 2 === 1,
      is_pinned: index === 4,
      published_at: published ? iso(createdAt + DAY) : null,
      scheduled_at: scheduled ? iso(school.now + (index + 1) * DAY) : null,
      created_at: iso(createdAt),
      updated_at: iso(createdAt + (published ? DAY : 0)),
    };
  }
}

export const blogRows: TableRows = { blog_posts: blogPosts };

import { Injectable } from '@nestjs/common';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import type { JsonText } from '../../http/views/json-text.js';
import type { ListPosts } from './blog.dto.js';
import { postsInSight } from './blog.queries.js';

@Injectable()
export class BlogService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListPosts): Promise<JsonText> {
    return this.lists.array(caller, postsInSight(caller, query));
  }
}

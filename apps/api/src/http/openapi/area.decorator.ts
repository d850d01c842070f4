import { Module, type ModuleMetadata, type Type } from '@nestjs/common';

const TAGS = 'tags';

/** A group of operations in the reference. */
export interface ReferenceTag {
  /** The first segment of their paths after the version. */
  name: string;
  'x-displayName': string;
  description: string;
}

/** What an area's module declares: the routes of its resources, and how the reference names them. */
export interface AreaDeclaration extends Omit<ModuleMetadata, 'exports'> {
  /** By the first segment of the operations' paths. */
  tags: Record<string, [title: string, description: string]>;
}

/** The module of an area. */
export const Area =
  ({ tags, ...module }: AreaDeclaration): ClassDecorator =>
  (area) => {
    const declared = Object.entries(tags).map(([name, [title, description]]): ReferenceTag => ({
      name,
      'x-displayName': title,
      description,
    }));
    Reflect.defineMetadata(TAGS, declared, area);
    Module(module)(area);
  };

/** The tags of these areas, in the order in which the reference shows them. */
export const tagsOf = (areas: Type[]): ReferenceTag[] =>
  areas.flatMap((area) => Reflect.getMetadata(TAGS, area) as ReferenceTag[]);

//! The methods that a file defines and calls.
//!
//! A method can be in another file than its type, and its caller names neither file. The receiver's type is known if it
//! is `self` or a parameter with a named type. Otherwise, the method's name decides.

use crate::parse;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, ImplItem, Pat, ReturnType, Signature, Type};

/// The methods of a file.
#[derive(Default)]
pub(crate) struct Methods {
    /// Type and name of the methods in inherent `impl` blocks.
    pub(crate) inherent: BTreeSet<(String, String)>,
    /// The names of the methods that traits declare and `impl` blocks of traits define.
    pub(crate) of_traits: BTreeSet<String>,
    /// The types that the file declares.
    pub(crate) types: BTreeSet<String>,
    /// The types that the file names.
    pub(crate) named: BTreeSet<String>,
    /// The calls in the file.
    pub(crate) calls: Vec<Call>,
}

/// A method call, or a path to a method.
pub(crate) struct Call {
    /// The name of the receiver's type, if the file contains it.
    pub(crate) of: Option<String>,
    pub(crate) method: String,
}

/// Reads the methods of a file, without test code.
pub(crate) fn read(text: &str) -> syn::Result<Methods> {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(text)?);
    Ok(reader.methods)
}

/// The file that declares each type that a file declares or imports; none for types of other crates.
pub(crate) type Origins<'a> = BTreeMap<&'a str, Option<usize>>;

/// The files that define each method.
pub(crate) struct Index<'a> {
    methods: &'a [Methods],
    origins: &'a [Origins<'a>],
    /// By method name: the files, each with the type.
    named: BTreeMap<&'a str, BTreeSet<(usize, &'a str)>>,
    of_traits: BTreeSet<&'a str>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(methods: &'a [Methods], origins: &'a [Origins<'a>]) -> Index<'a> {
        let mut named = BTreeMap::<&str, BTreeSet<(usize, &str)>>::new();
        for (file, methods) in methods.iter().enumerate() {
            for (of, name) in &methods.inherent {
                named.entry(name).or_default().insert((file, of));
            }
        }
        let of_traits = methods.iter().flat_map(|it| it.of_traits.iter().map(String::as_str)).collect();
        Index { methods, origins, named, of_traits }
    }

    /// The file, and the type, of a called method if it is unambiguous.
    pub(crate) fn definition(&self, caller: usize, call: &Call) -> Option<(usize, &'a str)> {
        let all = self.named.get(call.method.as_str())?.iter().copied();
        let all = all.filter(|(file, of)| self.may_be_same(caller, *file, of));
        match &call.of {
            Some(of) => only(all.filter(|(_, candidate)| candidate == of)),
            None if self.of_traits.contains(call.method.as_str()) => None,
            None if OF_OTHERS.contains(&call.method.as_str()) => None,
            None => only(all.filter(|(_, of)| self.methods[caller].named.contains(*of))),
        }
    }

    /// Whether a type name can denote the same type in both files.
    fn may_be_same(&self, one: usize, other: usize, of: &str) -> bool {
        match (self.origins[one].get(of), self.origins[other].get(of)) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        }
    }
}

/// The single file of the candidates, with the first type.
fn only<'a>(mut candidates: impl Iterator<Item = (usize, &'a str)>) -> Option<(usize, &'a str)> {
    let first = candidates.next()?;
    candidates.all(|(file, _)| file == first.0).then_some(first)
}

impl Call {
    /// The first line with this call. Exact positions need a feature of proc-macro2 that makes cargo build pgrx twice.
    pub(crate) fn line(&self, text: &str) -> usize {
        let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        let calls = |line: &str| {
            let mut found = line.match_indices(&self.method);
            found.any(|(position, name)| {
                line[..position].ends_with(['.', ':']) && is_end(&line[position + name.len()..])
            })
        };
        parse::code_lines(text).find(|(_, line)| calls(line)).map_or(1, |(number, _)| number)
    }
}

#[derive(Default)]
struct Reader {
    methods: Methods,
    /// The type of an `impl` block.
    own: Option<String>,
    /// The types of the function's parameters.
    parameters: BTreeMap<String, String>,
}

impl Reader {
    fn call(&mut self, of: Option<String>, method: String) {
        self.methods.calls.push(Call { of, method });
    }

    /// The type of a local name.
    fn known(&self, name: &str) -> Option<String> {
        match name {
            "self" | "Self" => self.own.clone(),
            _ => self.parameters.get(name).cloned(),
        }
    }

    /// The type with this name; for `Self`, the type of the `impl` block.
    fn own_or(&self, name: String) -> Option<String> {
        if name == "Self" { self.own.clone() } else { Some(name) }
    }

    /// Reads the arguments of a macro, which may not be Rust: `.method(` and `Type::method`.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (position, token) in tokens.iter().enumerate() {
            if let TokenTree::Group(group) = token {
                self.tokens(group.stream());
                continue;
            }
            let TokenTree::Ident(name) = token else { continue };
            self.visit_ident(name);
            let is = |position: Option<usize>, expected: char| {
                let token = position.and_then(|position| tokens.get(position));
                matches!(token, Some(TokenTree::Punct(it)) if it.as_char() == expected)
            };
            let ident = |position: Option<usize>| match position.and_then(|position| tokens.get(position)) {
                Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
                _ => None,
            };
            let before = |count: usize| position.checked_sub(count);
            let method = name.to_string();
            if is(before(1), '.') && matches!(tokens.get(position + 1), Some(TokenTree::Group(_))) {
                // The receiver is a plain name only if no path or chain precedes it.
                let receiver = ident(before(2)).filter(|_| !is(before(3), '.') && !is(before(3), ':'));
                let of = receiver.and_then(|receiver| self.known(&receiver));
                self.call(of, method);
            } else if is(before(1), ':')
                && is(before(2), ':')
                && let Some(of) = ident(before(3)).filter(|it| is_type(it))
            {
                let of = self.own_or(of);
                self.call(of, method);
            }
        }
    }

    /// Reads a function, in which its parameters have known types.
    fn function(&mut self, signature: &Signature, read: impl FnOnce(&mut Self)) {
        let parameters = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(name) => Some((name.ident.to_string(), self.type_name(&typed.ty)?)),
                _ => None,
            },
            FnArg::Receiver(_) => None,
        });
        let parameters = parameters.collect();
        let outer = std::mem::replace(&mut self.parameters, parameters);
        read(self);
        self.parameters = outer;
    }

    fn type_name(&self, of: &Type) -> Option<String> {
        self.own_or(name_of(of)?)
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.methods.types.insert(item.ident.to_string());
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.methods.types.insert(item.ident.to_string());
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let functions = item.items.iter().filter_map(|it| match it {
            syn::TraitItem::Fn(function) => Some(function.sig.ident.to_string()),
            _ => None,
        });
        self.methods.of_traits.extend(functions);
        let outer = self.own.take();
        visit::visit_item_trait(self, item);
        self.own = outer;
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let own = name_of(&item.self_ty);
        for inner in &item.items {
            let ImplItem::Fn(function) = inner else { continue };
            let name = function.sig.ident.to_string();
            match (&own, &item.trait_) {
                _ if is_for_tests(&function.attrs) => {}
                (Some(own), None) => drop(self.methods.inherent.insert((own.clone(), name))),
                _ => drop(self.methods.of_traits.insert(name)),
            }
        }
        let outer = std::mem::replace(&mut self.own, own);
        visit::visit_item_impl(self, item);
        self.own = outer;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, |reader| visit::visit_item_fn(reader, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            self.function(&item.sig, |reader| visit::visit_impl_item_fn(reader, item));
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.sig, |reader| visit::visit_trait_item_fn(reader, item));
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        // The parameter names are already recorded.
        for input in &signature.inputs {
            if let FnArg::Typed(typed) = input {
                self.visit_type(&typed.ty);
            }
        }
        if let ReturnType::Type(_, result) = &signature.output {
            self.visit_type(result);
        }
    }

    fn visit_pat_ident(&mut self, name: &'ast syn::PatIdent) {
        // The name may be shadowed from here on.
        self.parameters.remove(&name.ident.to_string());
        visit::visit_pat_ident(self, name);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let of = match &*call.receiver {
            syn::Expr::Path(path) => path.path.get_ident().and_then(|name| self.known(&name.to_string())),
            _ => None,
        };
        self.call(of, call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let segments = &path.path.segments;
        if let Some(position) = segments.len().checked_sub(2) {
            let (of, method) = (segments[position].ident.to_string(), &segments[position + 1].ident);
            if is_type(&of) {
                let of = self.own_or(of);
                self.call(of, method.to_string());
            }
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_ident(&mut self, name: &'ast proc_macro2::Ident) {
        let name = name.to_string();
        if is_type(&name) {
            self.methods.named.insert(name);
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
    }
}

/// Whether a name denotes a type, not a module.
fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// The type name without references: `Template` for `&mut template::Template<'_>`.
fn name_of(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        Type::Reference(reference) => name_of(&reference.elem),
        Type::Paren(inner) => name_of(&inner.elem),
        Type::Group(inner) => name_of(&inner.elem),
        _ => None,
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| {
        it.path().is_ident("test")
            || (it.path().is_ident("cfg")
                && it.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test"))
    })
}

fn attributes(item: &syn::Item) -> &[Attribute] {
    match item {
        syn::Item::Const(it) => &it.attrs,
        syn::Item::Enum(it) => &it.attrs,
        syn::Item::Fn(it) => &it.attrs,
        syn::Item::Impl(it) => &it.attrs,
        syn::Item::Macro(it) => &it.attrs,
        syn::Item::Mod(it) => &it.attrs,
        syn::Item::Static(it) => &it.attrs,
        syn::Item::Struct(it) => &it.attrs,
        syn::Item::Trait(it) => &it.attrs,
        syn::Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// Method names that types of other crates also have. They count only if the receiver's type is known.
const OF_OTHERS: [&str; 43] = [
    "add",
    "any",
    "bytes",
    "chain",
    "collect",
    "contains",
    "delimiter",
    "elapsed",
    "encoding",
    "execute",
    "extend",
    "filter",
    "find",
    "get",
    "headers",
    "id",
    "insert",
    "into_owned",
    "is_empty",
    "iter",
    "join",
    "last",
    "leak",
    "len",
    "lines",
    "load",
    "lower",
    "map",
    "next",
    "ok",
    "parse",
    "parts",
    "position",
    "push",
    "remove",
    "round",
    "skip",
    "store",
    "swap",
    "take",
    "value",
    "with",
    "write_all",
];

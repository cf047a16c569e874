"""The pages: of a comparison, of a model, of an audit; each is one self-contained HTML file."""
